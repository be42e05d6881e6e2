// Many devices of hawkBit in one process.

import { type DdiDeps, DdiDevice } from './ddi-device.ts'
import { counting, emptyCounts, type Fleet, type FleetOptions, randomSeed } from './fleet.ts'
import { calmPattern } from './pattern.ts'
import { Schedule } from './schedule.ts'

type DdiFleetOptions = Pick<FleetOptions, 'devices' | 'pattern' | 'seed' | 'tell'> &
  Pick<DdiDeps, 'server' | 'tenant'>

/** Their phases offline are not simulated: they are polls that do not happen. */
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
