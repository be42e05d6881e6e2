// Many simulated hawkBit devices in one process.

import type { DeviceCredential } from '@jobcast/contract'
import { type DdiDeps, DdiDevice } from './ddi-device.ts'
import { counting, emptyCounts, type Fleet, type FleetOptions, randomSeed } from './fleet.ts'
import { calmPattern, type Pattern } from './pattern.ts'
import { Schedule } from './schedule.ts'

type DdiFleetOptions = Pick<FleetOptions, 'pattern' | 'seed' | 'tell'> &
  Pick<DdiDeps, 'server' | 'tenant'> & {
    devices: readonly (DeviceCredential & { pattern?: Partial<Pattern> })[]
  }

/** Does not simulate offline phases: for a polling device they would only be missing polls. */
export function startDdiFleet(options: DdiFleetOptions): Fleet {
  const { server, tenant, devices, seed = randomSeed(), tell = () => undefined } = options
  const counts = emptyCounts()
  const schedule = new Schedule()
  const stopping = new AbortController()
  const deps = { server, tenant, schedule, seed, tell: counting(counts, tell), stopping: stopping.signal }
  const simulated = devices.map(
    (device) => new DdiDevice(deps, device, { ...calmPattern, ...options.pattern, ...device.pattern }),
  )
  for (const device of simulated) device.start()
  return {
    counts: () => ({ devices: devices.length, ...counts, ended: { ...counts.ended } }),
    whenUp: async () => void (await Promise.all(simulated.map((device) => device.settled))),
    async stop() {
      schedule.stop()
      stopping.abort()
      for (const device of simulated) device.stop()
    },
  }
}
