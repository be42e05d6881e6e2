// Executions in partitions: the next one is there before it is needed, as large as the rate asks for, and one whose
// runs are all purged goes as a whole, while everybody else continues.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import { connectionOptions } from '../../src/store/postgres/connect.ts'
import { ahead, nextSize, type Partition } from '../../src/store/postgres/partitions.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { output, startNext, update } from './device-reports.ts'
import {
  allExecutions,
  assertRunsAddUp,
  createOne,
  keyTimes,
  momentAt,
  moveOf,
  olderThan,
  runOf,
  type Seed,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const server = await sharedPostgres()
const day = 24 * 60 * 60_000
const million = 1_000_000

async function open(t: TestContext, nodes = 1): Promise<{ url: string; store: Store; others: Store[] }> {
  const url = await createDatabase(server)
  const stores: Store[] = await Promise.all(Array.from({ length: nodes }, () => openPostgresStore({ url })))
  t.after(() => Promise.all(stores.map((store) => store.close())))
  const [store, ...others] = stores as [Store, ...Store[]]
  return { url, store, others }
}

/** As if all ids below had been given. */
const skipTo = (url: string, id: number) => execute(url, `SELECT setval('last_execution_id', ${id - 1})`)

async function partitionsOf(url: string): Promise<{ first: number; end: number }[]> {
  const rows = await execute(
    url,
    `SELECT relname, (regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''(\\d+)''\\)'))[1]::bigint::text AS end
     FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = 'execution'::regclass`,
  )
  const all = rows.map(({ relname, end }) => ({
    first: Number(String(relname).slice('execution_from_'.length)),
    end: Number(end),
  }))
  return all.sort((one, other) => one.first - other.first)
}

const firstsOf = async (url: string) => (await partitionsOf(url)).map(({ first }) => first)

async function endedRun(store: Store, { ownerNo, trigger }: Seed, deviceIds: string[], at = startedAt) {
  const run = await createOne(store, trigger(deviceIds, { launchedAt: at }))
  for (const index of deviceIds.keys()) {
    await store.moveExecution(moveOf(ownerNo, run.firstExecutionId + index, 'cancel', momentAt(at)))
  }
  return run
}

async function purgeAll(store: Store, endedBefore: number): Promise<void> {
  for (let calls = 0; await store.purgeRuns(olderThan(endedBefore)); calls++) assert.ok(calls < 1000)
}

const looksBeforeNextTrigger = 50

/** What is noted beside a trigger is there soon; if it could not be noted, the next trigger tries again. */
async function untilNoted(url: string, first: number, triggerAgain?: () => Promise<unknown>): Promise<void> {
  const noted = `SELECT FROM execution_partition WHERE first_id = ${first} AND began_at IS NOT NULL`
  let looks = 0
  await waitUntil(`it is noted that ${first} is in use`, async () => {
    if ((await execute(url, noted)).length > 0) return true
    if (++looks % looksBeforeNextTrigger === 0) await triggerAgain?.()
    return false
  })
}

test('how large the next one is goes by how long one lasted', () => {
  const sized = (size: number, ...begun: (number | null)[]): Partition[] =>
    begun.map((beganAt, index) => ({ firstId: index * size, endId: (index + 1) * size, beganAt }))
  const cases: [string, Partition[], number][] = [
    ['nothing is known', [], million],
    ['the first one is still in use', sized(million, 0, null), million],
    ['half a day', sized(million, 0, day / 2, null), 2 * million],
    ['three days', sized(million, 0, 3 * day, null), million],
    ['two weeks', sized(2 * million, 0, 14 * day, null), million],
    ['two weeks, and small already', sized(500_000, 0, 14 * day), 500_000],
    ['an hour, and large already', sized(40 * million, 0, day / 24, null), 50 * million],
    [
      'there are many',
      sized(million, ...Array.from({ length: 50 }, (_, index) => 3 * day * index)),
      2 * million,
    ],
    ['the last that is known counts', sized(million, 0, 3 * day, 3 * day + 5, null, null), 2 * million],
  ]
  for (const [title, partitions, size] of cases) assert.equal(nextSize(partitions), size, title)
})

test('calls that are refused or answered again use up no ids', async (t) => {
  const { store } = await open(t)
  const { trigger } = await seedOwner(store)
  const keyed = (request: string): Partial<Trigger> => ({
    idempotency: { key: 'k', requestHash: hash('sha256', request, 'buffer'), ...keyTimes(startedAt) },
  })
  const first = await createOne(store, trigger(['d1', 'd2'], keyed('a')))
  const without = [
    trigger(['d1', 'd2', 'nobody']),
    trigger(['d1', 'd2', 'd3'], { jobName: 'no such job' }),
    trigger(['d1', 'd2'], keyed('a')),
    trigger(['d1', 'd2', 'd3'], keyed('b')),
  ]
  const kinds: (string | undefined)[] = []
  for (const call of without) kinds.push((await store.createExecutions([call]))[0]?.kind)
  assert.deepEqual(kinds, ['unknown-device', 'unknown-job', 'replayed', 'idempotency-key-reused'])
  // In one group with one that is made.
  const outcomes = await store.createExecutions([...without, trigger(['d3']), trigger(['nobody'])])
  const next = runOf(outcomes[4])
  assert.equal(next.runId, first.runId + 1)
  assert.equal(next.firstExecutionId, first.firstExecutionId + 2)
})

chaosTest('ids that jump far ahead make a few large partitions, not thousands', async (t) => {
  const { url, store } = await open(t)
  const { trigger } = await seedOwner(store)
  await skipTo(url, 2000 * million)
  await createOne(store, trigger(['d1']))
  assert.ok((await partitionsOf(url)).length < 50)
})

chaosTest(
  'a million ids and more lie ahead of the last one, and a busy database gets larger partitions',
  async (t) => {
    const { url, store } = await open(t)
    const seed = await seedOwner(store)
    await createOne(store, seed.trigger(['d1']))
    await untilNoted(url, 0)
    assert.deepEqual(await firstsOf(url), [0, million])
    // Hours later the second one is in use.
    await skipTo(url, million + 7)
    await createOne(store, seed.trigger(['d1'], { launchedAt: startedAt + day / 4 }))
    await untilNoted(url, million)
    await skipTo(url, million + 700_000)
    await createOne(store, seed.trigger(['d1'], { launchedAt: startedAt + day / 3 }))
    // This one opens a store again, which makes what is missing and waits for it.
    await (await openPostgresStore({ url })).close()
    const areAhead = async () => ((await partitionsOf(url)).at(-1)?.end ?? 0) >= million + 700_000 + ahead
    await waitUntil('the ones ahead are made', areAhead)
    const made = await partitionsOf(url)
    assert.ok(made.some(({ first, end }) => end - first === 2 * million))
    for (const [index, { first }] of made.slice(1).entries()) assert.equal(first, made[index]?.end)
    assert.equal((await allExecutions(store, seed.ownerNo)).length, 3)
  },
)

test('a partition is dropped when every run in it is purged, and a run that reaches into it keeps both', async (t) => {
  const { url, store } = await open(t)
  const seed = await seedOwner(store)
  const { ownerNo } = seed
  await endedRun(store, seed, ['d1', 'd2'])
  await untilNoted(url, 0)
  await skipTo(url, million - 1)
  const across = await createOne(store, seed.trigger(['d1', 'd2', 'd3']))
  assert.deepEqual([across.firstExecutionId, across.firstExecutionId + 2], [million - 1, million + 1])
  await untilNoted(url, million)
  await purgeAll(store, startedAt + 1)
  assert.deepEqual((await firstsOf(url)).slice(0, 2), [0, million])
  for (const id of [0, 1, 2]) {
    await store.moveExecution(moveOf(ownerNo, across.firstExecutionId + id, 'cancel', momentAt(startedAt)))
  }
  assert.equal((await store.getRun({ ownerNo, runId: across.runId }))?.counts.CANCELED, 3)
  // Old enough, but ids are still given from the second one.
  await purgeAll(store, startedAt + 1)
  assert.equal((await firstsOf(url))[0], million)
  assert.equal(await store.getRun({ ownerNo, runId: across.runId }), undefined)
  await skipTo(url, 2 * million)
  const kept = await createOne(store, seed.trigger(['d1'], { launchedAt: startedAt + day }))
  await untilNoted(url, 2 * million)
  // Not yet: it was left behind a day later than that.
  await purgeAll(store, startedAt + 1)
  assert.equal((await firstsOf(url))[0], million)
  await purgeAll(store, startedAt + day + 1)
  assert.equal((await firstsOf(url))[0], 2 * million)
  assert.equal(
    await execute(url, "SELECT to_regclass('execution_from_0') AS gone").then(([row]) => row?.gone),
    null,
  )
  assert.deepEqual(
    (await allExecutions(store, ownerNo)).map(({ jobExecutionId }) => jobExecutionId),
    [kept.firstExecutionId],
  )
  await assertRunsAddUp(store, ownerNo)
})

test('a run that has not ended keeps its partition and no other', async (t) => {
  const { url, store } = await open(t)
  const seed = await seedOwner(store)
  const waits = await createOne(store, seed.trigger(['d1']))
  await untilNoted(url, 0)
  await skipTo(url, million)
  await endedRun(store, seed, ['d2'])
  await untilNoted(url, million)
  await skipTo(url, 2 * million)
  await endedRun(store, seed, ['d2'])
  await untilNoted(url, 2 * million)
  await purgeAll(store, startedAt + 1)
  assert.deepEqual((await firstsOf(url)).slice(0, 2), [0, 2 * million])
  assert.equal(
    (await store.getExecution({ ownerNo: seed.ownerNo, jobExecutionId: waits.firstExecutionId }))?.execState,
    'PENDING',
  )
})

chaosTest(
  'several nodes purge at once: nothing fails, nothing is done twice, and triggers continue meanwhile',
  async (t) => {
    const { url, store, others } = await open(t, 3)
    const seed = await seedOwner(store)
    for (const [index, first] of [0, million, 2 * million, 3 * million].entries()) {
      await skipTo(url, first + 1)
      // Each lasts three days, so that the next one is as large, whether it is made before that is noted or after.
      const at = startedAt - (3 - index) * 3 * day
      const trigger = () => endedRun(store, seed, ['d1', 'd2'], at)
      await trigger()
      await untilNoted(url, first, trigger)
    }
    let isOver = false
    const triggering = (async () => {
      let slowestMs = 0
      while (!isOver) {
        const begun = performance.now()
        await createOne(store, seed.trigger(['d3'], { launchedAt: startedAt + day }))
        slowestMs = Math.max(slowestMs, performance.now() - begun)
      }
      return slowestMs
    })()
    await Promise.all([store, ...others].map((node) => purgeAll(node, startedAt + 1)))
    isOver = true
    t.diagnostic(`the slowest trigger beside it took ${Math.round(await triggering)} ms`)
    await purgeAll(store, startedAt + 1)
    assert.equal((await firstsOf(url))[0], 3 * million)
    const noted = await execute(url, 'SELECT first_id::int FROM execution_partition ORDER BY 1')
    assert.deepEqual(
      noted.map(({ first_id }) => first_id),
      await firstsOf(url),
    )
    await assertRunsAddUp(store, seed.ownerNo)
  },
)

/** All that is asked from now on, with its values. */
function recordQuestions(t: TestContext): { text: string; values: unknown[] }[] {
  const questions: { text: string; values: unknown[] }[] = []
  const client = pg.Client.prototype as { query: (config: unknown, ...more: unknown[]) => unknown }
  const send = client.query
  client.query = function (config, ...more) {
    const { name, text, values = [] } = config as { name?: string; text?: string; values?: unknown[] }
    if (name !== undefined && text !== undefined) questions.push({ text, values })
    return send.call(this, config, ...more)
  }
  t.after(() => {
    client.query = send
  })
  return questions
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value))
  return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(each)).join(',')}}`)
}

test('a query about one execution, or one run, reads one partition', async (t) => {
  const { url, store } = await open(t)
  const seed = await seedOwner(store)
  const { ownerNo } = seed
  for (const first of [0, million, 2 * million, 3 * million]) {
    await skipTo(url, first + 1)
    await endedRun(store, seed, ['d1', 'd2'])
  }
  const run = await createOne(store, seed.trigger(['d1', 'd2']))
  const id = run.firstExecutionId
  const device = { ownerNo, deviceId: 'd1' }
  const questions = recordQuestions(t)
  await store.recordReports([
    startNext(device),
    output(device, id, 0, 'text'),
    update(device, id, 'SUCCEEDED'),
  ])
  // Whose turn it is goes by the device, and is looked for everywhere.
  const from = questions.findIndex(({ text }) => /AS wanted \(id\)/.test(text))
  questions.splice(0, from)
  await store.moveExecution(moveOf(ownerNo, id + 1, 'cancel'))
  await store.getExecution({ ownerNo, jobExecutionId: id })
  await store.listTransitions({ ownerNo, jobExecutionId: id })
  await store.getDeviceExecution({ ...device, jobExecutionId: id })
  await store.readOutput({ ownerNo, jobExecutionId: id, offset: 0, limit: 9, attempt: undefined })
  await store.listEndedDevices({ ownerNo, runId: run.runId, ends: 'unsuccessful' })
  await store.listExecutions({ ownerNo, filter: { runId: run.runId }, slice: { after: undefined, limit: 9 } })
  await store.recordDeliveries({ notified: [id], delivered: [id], at: 1 })
  const client = new pg.Client({ ...connectionOptions(url), pipeline: false })
  await client.connect()
  t.after(() => client.end())
  const asked = questions.filter(({ text }) => /\bexecution\b/.test(text))
  assert.ok(asked.length >= 10, `only ${asked.length} were seen`)
  let found = 0
  for (const { text, values } of asked) {
    // As the store asks: with a plan that was made before the values were known.
    await client.query('BEGIN')
    await client.query(`PREPARE asked AS ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, COSTS off, TIMING off, BUFFERS off) EXECUTE asked${given}`,
    )
    await client.query('ROLLBACK')
    await client.query('DEALLOCATE asked')
    const plan = rows.map((row) => row['QUERY PLAN'] as string)
    const touched = plan.filter(
      (line) => /Scan.* on execution_from_/.test(line) && !/never executed/.test(line),
    )
    // One that was made ahead, by now or not yet, is empty: to look into it first costs nothing.
    const starts = touched.map((line) => Number(/on execution_from_(\d+)/.exec(line)?.[1]))
    const partitions = new Set(starts.filter((start) => start <= id))
    assert.ok(partitions.size <= 1, `${text}\n${plan.join('\n')}`)
    found += partitions.size
  }
  assert.ok(found >= 8, `only ${found} of ${asked.length} have found anything`)
})

test('a long transaction on executions puts a drop off; neither it nor a trigger waits, and the next call ends it', async (t) => {
  const { url, store } = await open(t)
  const seed = await seedOwner(store)
  await endedRun(store, seed, ['d1'])
  await untilNoted(url, 0)
  await skipTo(url, million)
  await endedRun(store, seed, ['d1'])
  await untilNoted(url, million)
  const long = new pg.Client({ connectionString: url })
  await long.connect()
  t.after(() => long.end())
  await long.query('BEGIN')
  await long.query('SELECT count(*) FROM execution')
  let isDone = false
  const dropping = purgeAll(store, startedAt + 1).then(() => {
    isDone = true
  })
  // It must not stand in line for a lock that others then wait behind.
  const isDropping = `SELECT FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE execution DETACH%' AND wait_event_type = 'Lock'
    AND datname = current_database()`
  // On a very slow machine it may have given up before it was seen.
  await waitUntil('it waits for the lock', async () => isDone || (await execute(url, isDropping)).length > 0)
  assert.ok(await createOne(store, seed.trigger(['d2'])))
  await long.query('SELECT count(*) FROM execution')
  await dropping
  assert.equal(
    (await execute(url, "SELECT to_regclass('execution_from_0') AS it"))[0]?.it,
    'execution_from_0',
  )
  assert.ok(await createOne(store, seed.trigger(['d2'])))
  await long.query('COMMIT')
  await purgeAll(store, startedAt + 1)
  assert.equal((await firstsOf(url))[0], million)
  assert.equal((await execute(url, "SELECT to_regclass('execution_from_0') AS it"))[0]?.it, null)
})
