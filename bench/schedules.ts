// Measures how long it takes until schedules that are due at the same time have fired: each creates a run for its own device.
// Arguments: `sqlite` or `postgres` for only one of the stores, a number of schedules, `--rounds`. Linux only.

import { parseArgs } from 'node:util'
import { buildParts } from '../server/src/build-parts.ts'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import { unlimited } from '../server/src/limits/rate-limits.ts'
import { buildMetrics } from '../server/src/observe/metrics.ts'
import { median } from './numbers.ts'
import { nameOf, openRegistered, type RegisteredStore } from './registered.ts'
import { formatMs, formatTable } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
})
const rounds = Number(values.rounds)
const schedules = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 10_000)
const stores = ['sqlite', 'postgres'].filter(
  (name) => !positionals.some((word) => /^[a-z]/.test(word)) || positionals.includes(name),
)
/** The limit of schedules per owner. */
const perOwner = 1000
const owners = Math.ceil(schedules / perOwner)
const putAtOnce = 100
const content = { expireAfterSeconds: null, timeoutSeconds: null, deadlineSeconds: null, retry: null }

/** The first owner exists already. */
async function addOwners(store: Store): Promise<void> {
  for (let ownerNo = 1; ownerNo <= owners; ownerNo++) {
    if (ownerNo > 1)
      await store.createOwner({ ownerId: `ow_${ownerNo}`, ownerName: `o${ownerNo}`, createdAt: 0 })
    await store.putJob({
      ownerNo,
      jobName: 'collect',
      content: { description: '', document: {}, ...content },
      at: 0,
    })
    const ids = Array.from({ length: perOwner }, (_, index) => nameOf(index))
    await store.putDevices(
      ids.map((deviceId) => ({ ownerNo, deviceId, deviceName: deviceId, tags: [], attributes: {}, at: 0 })),
    )
  }
}

/** Puts all schedules, due at that instant. */
async function putAll(store: Store, at: number): Promise<void> {
  const put = (index: number) => {
    const deviceIds = [nameOf(index % perOwner)]
    return store.putSchedule({
      ...{ ownerNo: 1 + Math.floor(index / perOwner), scheduleName: `s${index}`, scheduleNo: index + 1 },
      ...{ jobName: 'collect', keyId: 'k', at, most: schedules, mostMatching: 0 },
      content: {
        ...{ description: null, version: null, targets: { deviceIds }, when: { kind: 'at', at } },
        ...{ rollout: null, approval: false, overlap: 'QUEUE', catchUpSeconds: 3600, jitterSeconds: 0 },
        ...{ pauseAfterFailures: null, until: null },
      },
      times: { nextFor: at, dueAt: at },
    })
  }
  for (let start = 0; start < schedules; start += putAtOnce) {
    const count = Math.min(putAtOnce, schedules - start)
    await Promise.all(Array.from({ length: count }, (_, offset) => put(start + offset)))
  }
}

async function measure({ store, cpu }: RegisteredStore, isRemote: boolean) {
  const now = Date.now
  const { schedules: ticker } = buildParts({
    ...{ store, now, elapsed: now, metrics: buildMetrics(), isRemote, maxOutputBytes: 1000 },
    tell: (event) => {
      if (event.kind === 'background-failed') console.error(event)
    },
    moment: () => ({ at: now(), clock: steadyInstant(now()), chance: 0, cancelDeadlineMs: 60_000 }),
    stopping: new AbortController().signal,
    ...{ rates: unlimited, sessionIdleMs: 60 * 60_000, quotas: noQuotas, isAllowedAddress: () => true },
  })
  const ms: number[] = []
  const cpus: number[] = []
  // The first round is a warm-up: code is compiled, and pages of the database are read.
  for (let round = 0; round <= rounds; round++) {
    const at = now()
    await putAll(store, at)
    const [begun, used] = [performance.now(), cpu()]
    do {
      await ticker.tick()
      await ticker.quiet()
    } while ((await store.listDueSchedules({ by: at, limit: 1 })).length > 0)
    if (round === 0) continue
    ms.push(performance.now() - begun)
    cpus.push(cpu() - used)
  }
  return { ms, cpus }
}

const spread = (all: number[]) => `${formatMs(Math.min(...all))}–${formatMs(Math.max(...all))}`
const rows: string[][] = []
for (const name of stores) {
  const registered = await openRegistered(0, name === 'postgres')
  try {
    await addOwners(registered.store)
    const { ms, cpus } = await measure(registered, name === 'postgres')
    rows.push([name, formatMs(median(ms)), spread(ms), formatMs(median(cpus)), '10000'])
  } finally {
    await registered.close()
  }
}
const head = ['', 'ms', 'from–to', 'CPU ms', 'at most']
console.log(`${schedules.toLocaleString('en-US')} schedules due at once\n\n${formatTable(head, rows)}\n`)
