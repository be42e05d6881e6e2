// One occurrence creates one run, whichever step of a node is its last, and in any interleaving of two nodes.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { buildParts } from '../../src/build-parts.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { Moment } from '../../src/domain/execution/execution.ts'
import type { StoredSchedule } from '../../src/domain/schedule/ports/schedules.ts'
import { unlimited } from '../../src/limits/rate-limits.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { schedulePut } from '../store/exercise-schedules.ts'
import { momentAt, seedOwner, startedAt } from '../store/store-under-test.ts'
import { openSharedStore } from './open-dispatcher.ts'

/** The stores of three nodes on one database; the embedded one has one node, which may take itself for gone. */
type Nodes = { name: string; stores: [Store, Store, Store] }

async function openEmbedded(): Promise<Nodes> {
  const store = await openSharedStore()
  return { name: 'embedded', stores: [store, store, store] }
}

async function openPostgres(): Promise<Nodes> {
  const url = await createDatabase(await sharedPostgres())
  const open = async () => {
    const store = await openPostgresStore({ url })
    after(() => store.close())
    return store
  }
  return { name: 'PostgreSQL', stores: [await open(), await open(), await open()] }
}

const allNodes = [await openEmbedded(), await openPostgres()]
const dueAt = startedAt + 10
/** By then what a node has left behind is anybody's. */
const laterMs = 10_000

/** What nodes have put into their logs. */
const told = new Set<string>()

/** Around each step of a store; rejects if the node is gone. */
type Around = <T>(step: () => Promise<T>, name: string) => Promise<T>

/** The schedules of a node whose steps on the store go through `around`. */
function newTicker(own: Store, moment: Moment, around: Around = (step) => step()) {
  const store = new Proxy(own, {
    get(target, name) {
      const step = target[name as keyof Store] as unknown
      if (typeof step !== 'function' || name === 'onEvents') return step
      return (...given: unknown[]) => around(async () => step.apply(target, given), String(name))
    },
  })
  return buildParts({
    ...{ store, tell: ({ kind }) => told.add(kind), metrics: buildMetrics(), elapsed: () => 0 },
    ...{ now: () => moment.at, moment: () => moment, stopping: new AbortController().signal },
    ...{ maxOutputBytes: 1000, rates: unlimited, sessionIdleMs: 60_000, quotas: noQuotas },
    ...{ isRemote: false, isAllowedAddress: () => true },
  }).schedules
}

type Ticker = ReturnType<typeof newTicker>

async function fire(ticker: Ticker): Promise<void> {
  await ticker.tick().catch(() => undefined)
  await ticker.quiet()
}

/** A node that is gone after so many steps: before the last of them, or after it and before it hears of it. */
function goneAfter(steps: number, hears: boolean): Around & { taken: () => number } {
  let taken = 0
  const around = async <T>(step: () => Promise<T>): Promise<T> => {
    if (++taken > steps || (taken === steps && !hears)) throw new Error('this node is gone')
    const value = await step()
    if (taken >= steps) throw new Error('this node is gone')
    return value
  }
  return Object.assign(around, { taken: () => taken })
}

type Overlap = StoredSchedule['content']['overlap']

/** Due once. A second run must not go unseen because its devices are busy. */
async function newSchedule(store: Store, overlap: Overlap = 'QUEUE'): Promise<StoredSchedule> {
  const seed = await seedOwner(store, { devices: ['d1', 'd2'] })
  const put = schedulePut(seed)
  const content = { ...put.content, overlap, catchUpSeconds: 600, pauseAfterFailures: null }
  const when = { kind: 'at' as const, at: dueAt }
  const times = { nextFor: dueAt, dueAt }
  const outcome = await store.putSchedule({ ...put, content: { ...content, when }, times })
  return 'value' in outcome ? outcome.value : assert.fail()
}

async function assertOnce(
  store: Store,
  { ownerNo, scheduleName }: StoredSchedule,
  title: string,
): Promise<void> {
  const slice = { after: undefined, limit: 10 }
  const { items } = await store.listRuns({ ownerNo, filter: { scheduleName }, slice })
  assert.deepEqual(
    items.map(({ scheduledFor, total }) => [scheduledFor, total]),
    [[dueAt, 2]],
    title,
  )
  const types = ['schedule.*']
  const { events } = await store.listEvents({ ownerNo, filter: { types }, slice: { after: 0, limit: 10 } })
  assert.deepEqual(
    events.map(({ type }) => type),
    ['schedule.changed', 'schedule.fired'],
    title,
  )
  const after = await store.getSchedule({ ownerNo, scheduleName })
  assert.deepEqual(
    [after?.occurrence, after?.dueAt, after?.lastFor, after?.lastRunId],
    [null, null, dueAt, items[0]?.runId],
    title,
  )
}

for (const { name, stores } of allNodes) {
  const [one, two] = stores
  for (const hears of [true, false]) {
    test(`${name}: a node that is gone ${hears ? 'after' : 'before'} any step leaves one run to be made by another`, async () => {
      for (let steps = 1; ; steps++) {
        assert.ok(steps < 100, 'it never ends')
        const schedule = await newSchedule(one)
        const around = goneAfter(steps, hears)
        await fire(newTicker(one, momentAt(dueAt), around))
        const later = newTicker(two, momentAt(dueAt + laterMs))
        await fire(later)
        await fire(later)
        await assertOnce(two, schedule, `${steps} steps`)
        if (around.taken() < steps) {
          assert.ok(steps > 5, `only ${steps} steps were seen`)
          return
        }
      }
    })
  }

  for (const overlap of ['REPLACE', 'SKIP'] as const) {
    test(`${name}: overlap ${overlap} does not count the run that another node has made of this occurrence`, async () => {
      const schedule = await newSchedule(one, overlap)
      let isOvertaken = false
      await fire(
        newTicker(one, momentAt(dueAt), async (step, each) => {
          if (each === 'listBusyRuns' && !isOvertaken) {
            isOvertaken = true
            await fire(newTicker(two, momentAt(dueAt + laterMs)))
          }
          return step()
        }),
      )
      assert.ok(isOvertaken)
      await assertOnce(two, schedule, overlap)
      const { ownerNo, scheduleNo } = schedule
      assert.equal((await two.listBusyRuns({ ownerNo, scheduleNo })).length, 1, 'its executions wait')
    })
  }

  const title = `three nodes at once make one run, also when they take each other for gone (seed ${testSeed})`
  test(`${name}: ${title}`, longTest, () => exerciseThree(stores))
}

test('a conflict with another node is retried and not reported; other errors are', async () => {
  for (const [error, isReported] of [
    [new ApiError('J-502'), false],
    [new Error('no connection'), true],
  ] as const) {
    const [store] = (allNodes[0] as Nodes).stores
    const schedule = await newSchedule(store)
    told.clear()
    let taken = 0
    const ticker = newTicker(store, momentAt(dueAt), async (step) => {
      if (++taken === 6) throw error
      return step()
    })
    await fire(ticker)
    assert.equal(told.has('background-failed'), isReported, String(error))
    await fire(ticker)
    await assertOnce(store, schedule, String(error))
  }
})

const rounds = testSize('rounds', { test: 8, chaos: 300 })

/** Long enough for several steps of another node. */
const mostTurns = 100

/** So that the steps of nodes follow each other in any order. */
function takingTurns(random: Random): Around {
  return async (step) => {
    for (let turns = random.below(mostTurns); turns > 0; turns--) await turn()
    const value = await step()
    for (let turns = random.below(mostTurns); turns > 0; turns--) await turn()
    return value
  }
}

async function exerciseThree(stores: Nodes['stores']): Promise<void> {
  const [first] = stores
  const random = seededRandom(testSeed)
  for (let round = 0; round < rounds; round++) {
    const schedule = await newSchedule(first)
    const [one, other, late] = [0, 0, laterMs].map((ms, index) => {
      return newTicker(stores[index] ?? first, momentAt(dueAt + ms), takingTurns(random))
    }) as [Ticker, Ticker, Ticker]
    let areThrough = false
    const occurrence = Promise.all([fire(one), fire(other)]).finally(() => {
      areThrough = true
    })
    // To it, the occurrences of the others were abandoned long ago.
    while (!areThrough) await fire(late)
    await occurrence
    await fire(newTicker(first, momentAt(dueAt + 2 * laterMs)))
    await assertOnce(first, schedule, `round ${round}`)
  }
}

test('all schedules due at the same time are fired in one tick', async () => {
  const { stores } = allNodes[0] as Nodes
  const [store] = stores
  const seed = await seedOwner(store, { devices: ['d1'] })
  const count = 250
  const put = schedulePut(seed)
  const first = put.scheduleNo
  const times = { nextFor: dueAt, dueAt }
  const content = { ...put.content, when: { kind: 'at', at: dueAt } as const, overlap: 'QUEUE' as const }
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.putSchedule({
        ...{ ...put, content, times, scheduleName: `many-${index}`, scheduleNo: first + index },
        most: count,
      }),
    ),
  )
  const left = async () => {
    const due = await store.listDueSchedules({ by: dueAt, limit: 2 * count })
    return due.filter(({ ownerNo }) => ownerNo === seed.ownerNo).length
  }
  assert.equal(await left(), count)
  await fire(newTicker(store, momentAt(dueAt)))
  assert.equal(await left(), 0)
  const runs = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.findScheduledRun({ scheduleNo: first + index, scheduledFor: dueAt }),
    ),
  )
  assert.equal(new Set(runs.filter((runId) => runId !== undefined)).size, count)
})
