// Measures what schedules with match cost: the CPU time of a poll per second, while devices report changed attributes.
// npm run bench:match

import { MatchTicker, type MatchTickerDeps } from '../server/src/dispatch/match-ticker.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { DeviceLink } from '../server/src/domain/device/ports/device-link.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const devices = 100_000
const schedules = 100
const changesPerSecond = 1000
const seconds = 20

const folder = temporaryFolder()
const store = openSqliteStore({ folder, onLost: (error) => console.error(error) })
const now = Date.now()
const moment = () => ({ at: now, clock: steadyInstant(now), chance: 0, cancelDeadlineMs: 1 })
const maker = { createdBy: null, createdBySession: null }
await store.createFirstKey({
  owner: { ownerId: 'o', ownerName: 'o', createdAt: now },
  key: {
    ...{ ...maker, keyId: 'k', keyName: 'k', secretHash: new Uint8Array(32), scopes: ['ADMIN'] },
    ...{ expiresAt: null, createdAt: now },
  },
})
const ownerNo = 1
for (let start = 0; start < devices; start += 5000) {
  const ids = Array.from({ length: 5000 }, (_, index) => start + index)
  await store.putDevices(
    ids.map((id) => ({
      ...{ ownerNo, deviceId: `d${id}`, deviceName: `d${id}`, tags: ['kiosk'], at: now },
      attributes: { site: `site-${id % 50}`, model: id % 7 },
    })),
  )
}
for (let index = 0; index < schedules; index++) {
  const where = `tag=kiosk and fw<1.${index} and site=site-${index % 50} and load>1000`
  await store.putSchedule({
    ...{ ownerNo, scheduleName: `s${index}`, scheduleNo: index + 1, jobName: 'j', keyId: 'k', at: now },
    content: {
      ...{ description: null, version: null, targets: { where }, when: { kind: 'match' } },
      ...{ rollout: null, approval: false, overlap: 'SKIP', catchUpSeconds: 0, jitterSeconds: 0 },
      ...{ pauseAfterFailures: null, until: null },
    },
    times: { nextFor: null, dueAt: null },
    most: schedules,
    mostMatching: 0,
  })
}
const presence = { settle: async () => undefined, isPending: () => false }
const deps = { store, moment, presence, firedBy: 'bench', stopping: new AbortController().signal }
const ticker = new MatchTicker(
  { ...deps, onFailure: (error: unknown) => console.error(error) } as unknown as MatchTickerDeps,
  {} as DeviceLink,
)
const spent = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
let begun = spent()
await ticker.tick()
console.log(
  `the first look at all ${devices} devices for ${schedules} schedules: ${Math.round(spent() - begun)} ms of CPU`,
)
const times: number[] = []
for (let second = 0; second < seconds; second++) {
  await store.recordAttributes(
    Array.from({ length: changesPerSecond }, (_, index) => ({
      device: { ownerNo, deviceId: `d${(second * changesPerSecond + index) % devices}` },
      changes: { load: second + index, fw: `1.${index % 100}.${second}` },
      at: now,
    })),
  )
  begun = spent()
  await ticker.tick()
  times.push(spent() - begun)
}
times.sort((one, other) => one - other)
const median = times[Math.floor(times.length / 2)] ?? 0
console.log(
  `${changesPerSecond} changes a second: ${Math.round(median)} ms of CPU a second (median of ${seconds}), ` +
    `${(median / 10).toFixed(1)} % of a core`,
)
await store.close()
removeFolder(folder)
