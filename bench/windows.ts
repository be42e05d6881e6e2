// Measures what windows cost: the tick of a minute with devices in all zones, and an opening for many connected devices. On
// the embedded store, in this process; connections are objects that accept messages.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { buildParts } from '../server/src/build-parts.ts'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import type { DeviceNotice, DeviceSession } from '../server/src/domain/device/ports/device-link.ts'
import type { Moment } from '../server/src/domain/execution/execution.ts'
import { JudgedZones } from '../server/src/domain/window/judge-windows.ts'
import { unlimited } from '../server/src/limits/rate-limits.ts'
import { buildMetrics } from '../server/src/observe/metrics.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { median } from './numbers.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const deviceCount = 10_000
const windowCount = 10
const minuteMs = 60_000
const zones = Intl.supportedValuesOf('timeZone')
const rule = {
  cron: '0 2 * * *',
  durationMinutes: 180,
  timeZone: 'device',
  cutoffMinutes: 30,
  except: ['2026-12-24'],
}

let now = Date.parse('2026-11-15T00:00:00Z')
const moment = (): Moment => ({ at: now, clock: steadyInstant(now), chance: 0, cancelDeadlineMs: 60_000 })

/** Elapsed time of the work in milliseconds. */
async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** CPU time of the work, which depends little on other work on the machine. */
async function used(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function seed(store: Store): Promise<{ ownerNo: number; deviceIds: string[] }> {
  const owner = await store.createOwner({ ownerId: 'ow_bench', ownerName: 'bench', createdAt: now })
  if (owner === 'name-taken') throw new Error('the folder is not empty')
  const { ownerNo } = owner
  const deviceIds = Array.from({ length: deviceCount }, (_, index) => `device-${index}`)
  for (let start = 0; start < deviceCount; start += 1000) {
    await store.putDevices(
      deviceIds.slice(start, start + 1000).map((deviceId, index) => {
        const attributes = { timeZone: zones[(start + index) % zones.length] ?? 'UTC' }
        return { ownerNo, deviceId, deviceName: deviceId, tags: [], attributes, at: now }
      }),
    )
  }
  const policies = { expireAfterSeconds: null, timeoutSeconds: null, deadlineSeconds: null, retry: null }
  const content = { description: '', document: {}, ...policies }
  await store.putJob({ ownerNo, jobName: 'job', content, at: now, by: 'key:bench' })
  for (let index = 0; index < windowCount; index++) await putWindow(store, ownerNo, `w${index}`, rule)
  return { ownerNo, deviceIds }
}

async function putWindow(store: Store, ownerNo: number, windowName: string, of: typeof rule): Promise<void> {
  await store.putWindow({
    ownerNo,
    windowName,
    ...of,
    openZones: '',
    principal: 'operator',
    lineage: 'operator',
    at: now,
    clock: steadyInstant(now),
    most: 1000,
  })
}

function build(store: Store) {
  return buildParts({
    ...{ store, tell: () => undefined, metrics: buildMetrics(), now: () => now, moment },
    ...{ elapsed: () => performance.now(), stopping: new AbortController().signal, maxOutputBytes: 1000 },
    ...{ rates: unlimited, sessionIdleMs: minuteMs, quotas: noQuotas, isRemote: false },
    isAllowedAddress: () => true,
  })
}
type Parts = ReturnType<typeof build>

/** Measures every minute of a day. */
async function measureTicks({ windows }: Parts): Promise<void> {
  const first = await used(() => windows.refresh())
  const day: number[] = []
  for (let minute = 0; minute < 1440; minute++) {
    now += minuteMs
    day.push(await used(() => windows.refresh()))
  }
  const whole = day.reduce((sum, ms) => sum + ms, 0)
  console.log(
    `${windowCount} windows in ${zones.length} zones of ${deviceCount} devices; milliseconds of the processor`,
  )
  console.log(`  first judged after a start or a change      ${first.toFixed(1)} ms`)
  console.log(`  tick of a minute, median                    ${median(day).toFixed(2)} ms`)
  console.log(`  tick of a minute, slowest of a day          ${Math.max(...day).toFixed(1)} ms`)
  console.log(
    `  share of a core                             ${((whole / 1440 / minuteMs) * 100).toFixed(4)} %`,
  )
  const judged = new JudgedZones(rule)
  await judged.judge(zones, now)
  const rounds = 100
  const alone = await used(async () => {
    for (let round = 0; round < rounds; round++) await judged.judge(zones, now)
  })
  console.log(`  judging one window in all zones             ${(alone / rounds).toFixed(3)} ms`)
}

function connect({ dispatcher }: Parts, ownerNo: number, deviceId: string, onNext: () => void): void {
  const session: DeviceSession = {
    device: { ownerNo, deviceId, tokenId: null },
    transport: 'mqtt',
    wants: { list: true, next: true, cancel: true },
    isReady: true,
    lastSeenAt: now,
    send(notice: DeviceNotice) {
      if (notice.kind === 'next' && notice.next) onNext()
    },
    gather: () => undefined,
    flush: () => undefined,
    hold: () => undefined,
    release: () => undefined,
    close: () => undefined,
  }
  dispatcher.open(session)
  dispatcher.refresh(session)
}

/** All devices wait for one window, in a fixed zone. */
async function measureOpening(
  parts: Parts,
  store: Store,
  ownerNo: number,
  deviceIds: string[],
): Promise<void> {
  const fixed = { ...rule, timeZone: 'UTC' }
  now = Date.parse('2026-12-01T01:59:59Z')
  await putWindow(store, ownerNo, 'fixed', fixed)
  const asked = { ownerNo, jobName: 'job', deviceIds, launchedAt: now, clock: steadyInstant(now), keyId: 'k' }
  await store.createExecutions([{ ...asked, retryOf: null, idempotency: null, window: 'fixed' }])
  let notified = 0
  const all = Promise.withResolvers<void>()
  const onNext = () => {
    if (++notified === deviceIds.length) all.resolve()
  }
  for (const deviceId of deviceIds) connect(parts, ownerNo, deviceId, onNext)
  await parts.dispatcher.quiet()
  await parts.windows.refresh()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  now += 1000
  delay.enable()
  const took = await timed(async () => {
    await parts.windows.tick()
    await all.promise
  })
  delay.disable()
  console.log(`an opening for ${deviceIds.length} connected devices`)
  console.log(`  all notified after                          ${took.toFixed(0)} ms`)
  console.log(`  longest wait of others for the event loop   ${(delay.max / 1e6).toFixed(1)} ms`)
}

const folder = temporaryFolder()
const store = openSqliteStore({
  folder,
  onLost: (error) => {
    throw error
  },
})
try {
  const { ownerNo, deviceIds } = await seed(store)
  const parts = build(store)
  await measureTicks(parts)
  await measureOpening(parts, store, ownerNo, deviceIds)
} finally {
  await store.close()
  removeFolder(folder)
}
