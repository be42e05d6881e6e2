// Two nodes get a call with the same idempotency key at the same time: the second one waits for the commit of the first, and creates
// a run only if the first did not.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { execute } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import { locks } from '../../src/store/postgres/locks.ts'
import { openNodes } from './postgres-under-test.ts'
import { allRuns, answered, createOne, keyTimes, runOf, seedOwner, startedAt } from './store-under-test.ts'

const keyed = (key: string, request = 'a'): Partial<Trigger> => ({
  idempotency: {
    key,
    requestHash: hash('sha256', request, 'buffer'),
    ...keyTimes(startedAt, startedAt - 1000),
  },
})

/** Whoever launches stops between claiming its key and its event. */
async function openWithHeldEvents(t: TestContext) {
  const { url, nodes } = await openNodes(t)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.after(() => holder.end())
  const { ownerNo, trigger } = await seedOwner(nodes[0])
  // Both know the names, so that a call is one statement.
  for (const node of nodes) await createOne(node, trigger(['d1', 'd2']))
  await holder.query('BEGIN')
  await holder.query(`SELECT pg_advisory_xact_lock(${locks.eventsOfOwner}, ${ownerNo})`)
  const findWaiting = () =>
    execute(
      url,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY query_start`,
    )
  const waitForWaiting = (count: number) =>
    waitUntil(`${count} wait for a lock`, async () => (await findWaiting()).length === count)
  return { url, nodes, holder, ownerNo, trigger, findWaiting, waitForWaiting }
}

// A call of one device has a statement of its own.
const shapes: { name: string; deviceIds: string[] }[] = [
  { name: 'one device', deviceIds: ['d1'] },
  { name: 'two devices', deviceIds: ['d1', 'd2'] },
]

for (const { name, deviceIds } of shapes) {
  test(`a call for ${name} waits for its twin on another node and gets the same answer`, async (t) => {
    const { nodes, holder, ownerNo, trigger, waitForWaiting } = await openWithHeldEvents(t)
    const first = nodes[0].createExecutions([trigger(deviceIds, keyed('k'))])
    await waitForWaiting(1)
    const second = nodes[1].createExecutions([trigger(deviceIds, keyed('k'))])
    await waitForWaiting(2)
    const other = nodes[1].createExecutions([trigger(deviceIds, keyed('k', 'b'))])
    await holder.query('COMMIT')
    const [[made], [again], [reused]] = await Promise.all([first, second, other])
    assert.deepEqual(
      [made?.kind, again?.kind, reused?.kind],
      ['created', 'replayed', 'idempotency-key-reused'],
    )
    assert.deepEqual(answered(runOf(again)), answered(runOf(made)))
    assert.equal((await allRuns(nodes[0], ownerNo)).length, 3)
    // What was waited for in vain leaves nothing behind that disturbs the next call.
    assert.equal((await nodes[1].createExecutions([trigger(deviceIds, keyed('next'))]))[0]?.kind, 'created')
  })

  test(`a call for ${name} makes the run if its twin on another node is rolled back`, async (t) => {
    const { url, nodes, holder, ownerNo, trigger, findWaiting, waitForWaiting } = await openWithHeldEvents(t)
    const first = nodes[0].createExecutions([trigger(deviceIds, keyed('k'))])
    const refused = assert.rejects(first)
    await waitForWaiting(1)
    const [waiting] = await findWaiting()
    const second = nodes[1].createExecutions([trigger(deviceIds, keyed('k'))])
    await waitForWaiting(2)
    await execute(url, `SELECT pg_terminate_backend(${waiting?.pid})`)
    await holder.query('COMMIT')
    await refused
    assert.equal((await second)[0]?.kind, 'created')
    assert.equal((await allRuns(nodes[0], ownerNo)).length, 3)
    const [again] = await nodes[0].createExecutions([trigger(deviceIds, keyed('k'))])
    assert.deepEqual(answered(runOf(again)), answered(runOf((await second)[0])))
  })

  test(`a repeated key of ${name} takes a statement, and another one to read the run`, async (t) => {
    const { nodes, holder, trigger } = await openWithHeldEvents(t)
    await holder.query('COMMIT')
    const first = await createOne(nodes[0], trigger(deviceIds, keyed('k')))
    const statements = countStatements(t)
    const [again] = await nodes[1].createExecutions([trigger(deviceIds, keyed('k'))])
    assert.equal(statements.sent, 2)
    const [reused] = await nodes[1].createExecutions([trigger(deviceIds, keyed('k', 'b'))])
    assert.equal(statements.sent, 3)
    assert.deepEqual(answered(runOf(again)), answered(first))
    assert.equal(reused?.kind, 'idempotency-key-reused')
  })
}

/** Without the hints to other nodes, which are sent on their own. */
function countStatements(t: TestContext): { sent: number } {
  const counted = { sent: 0 }
  const client = pg.Client.prototype as { query: (config: unknown, ...more: unknown[]) => unknown }
  const { query } = client
  t.after(() => {
    client.query = query
  })
  client.query = function (config, ...more) {
    const text = typeof config === 'string' ? config : (config as { text: string }).text
    if (!text.includes('pg_notify')) counted.sent++
    return query.call(this, config, ...more)
  }
  return counted
}
