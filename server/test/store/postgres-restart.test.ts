// PostgreSQL is restarted during work, as after a crash.
// "node server/test/store/postgres-restart.test.ts restarts=50" does it more often.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createDatabase, execute, startOwnPostgres } from '@jobcast/testkit/postgres-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { update } from './device-reports.ts'
import {
  allExecutions,
  allRuns,
  assertRunsAddUp,
  devicePut,
  keyTimes,
  seedOwner,
} from './store-under-test.ts'

const restarts = testSize('restarts', { test: 1, chaos: 15 })
const server = await startOwnPostgres()

test(
  'under load only StorageUnavailable is seen, nothing answered is lost and no key makes two runs',
  longTest,
  async (t) => {
    const url = await createDatabase(server.url)
    const nodes = [await openPostgresStore({ url }), await openPostgresStore({ url })] as const
    t.after(() => {
      isOver = true
      return Promise.all(nodes.map((node) => node.close()))
    })
    const { ownerNo, trigger } = await seedOwner(nodes[0])
    const created: LaunchedRun[] = []
    const succeeded: number[] = []
    let isOver = false
    let failures = 0

    const isThere = () =>
      execute(url, 'SELECT 1').then(
        () => true,
        () => false,
      )

    /** Undefined when the database was away; anything else that fails fails the test. */
    const tryOnce = async <T>(work: Promise<T>): Promise<T | undefined> => {
      try {
        return await work
      } catch (error) {
        assert.ok(error instanceof StorageUnavailable, String(error))
        failures++
        await waitUntil('the database is back', isThere, { intervalMs: 20 })
        return undefined
      }
    }
    const triggerAll = async (node: Store) => {
      while (!isOver) {
        const outcomes = await tryOnce(node.createExecutions([trigger(['d1', 'd2']), trigger(['d3'])]))
        for (const outcome of outcomes ?? []) if (outcome.kind === 'created') created.push(outcome.run)
      }
    }
    const reportAll = async (node: Store) => {
      for (let next = 0; !isOver; ) {
        const run = created[next]
        if (run === undefined) {
          await waitUntil('there is one to report', () => isOver || created.length > next)
          continue
        }
        const { deviceId } = run.devices.at(0) as { deviceId: string }
        const sent = update({ ownerNo, deviceId }, run.firstExecutionId, 'SUCCEEDED')
        const outcomes = await tryOnce(node.recordReports([sent]))
        if (outcomes === undefined) continue
        // One whose commit was not answered has been done by the time it is sent again.
        assert.ok(['done', 'wrong-state'].includes(outcomes[0]?.kind ?? ''), outcomes[0]?.kind ?? '')
        succeeded.push(run.firstExecutionId)
        next++
      }
    }
    let keys = 0
    const triggerWithKeys = async (node: Store) => {
      while (!isOver) {
        const key = `key ${++keys}`
        const idempotency: Trigger['idempotency'] = {
          key,
          requestHash: hash('sha256', key, 'buffer'),
          ...keyTimes(1),
        }
        for (let outcome: unknown; outcome === undefined && !isOver; ) {
          const outcomes = await tryOnce(
            node.createExecutions([trigger(['d1'], { keyId: key, idempotency })]),
          )
          outcome = outcomes?.find(({ kind }) => kind !== 'unreadable')
        }
      }
    }
    const readAll = async (node: Store) => {
      while (!isOver) {
        await tryOnce(node.listExecutions({ ownerNo, filter: {}, slice: { after: undefined, limit: 50 } }))
        await tryOnce(Promise.resolve(node.findApiKey({ keyId: 'nobody' })))
        await tryOnce(node.checkHealth())
      }
    }
    const work = nodes.flatMap((node) => [
      triggerAll(node),
      reportAll(node),
      triggerWithKeys(node),
      readAll(node),
    ])

    // So that there is something to lose.
    const twentyMore = () => {
      const enough = created.length + 20
      return waitUntil('twenty more runs are created', () => created.length >= enough)
    }
    for (let restart = 0; restart < restarts; restart++) {
      await twentyMore()
      await server.restart()
    }
    await twentyMore()
    isOver = true
    await Promise.all(work)

    assert.ok(failures > 0, 'nobody has noticed')
    const [one, two] = nodes
    const stored = new Map((await allExecutions(two, ownerNo)).map((each) => [each.jobExecutionId, each]))
    for (const { runId, firstExecutionId, devices } of created) {
      for (const index of [...devices].keys())
        assert.equal(stored.get(firstExecutionId + index)?.runId, runId)
    }
    for (const id of succeeded) assert.equal(stored.get(id)?.execState, 'SUCCEEDED')
    await assertRunsAddUp(one, ownerNo)
    // One after the other: hundreds at once wait for a connection longer than it may take on a busy machine.
    const makers: (string | undefined)[] = []
    for (const run of await allRuns(one, ownerNo)) makers.push(await keyOf(run))
    const keyed = makers.filter((key) => key !== 'key k1')
    assert.equal(new Set(keyed).size, keyed.length, 'one key has made two runs')

    /** Which key made a run stands in the history of its executions. */
    async function keyOf({ runId }: { runId: number }): Promise<string | undefined> {
      const { items } = await one.listExecutions({
        ownerNo,
        filter: { runId },
        slice: { after: undefined, limit: 1 },
      })
      return (await two.listTransitions({ ownerNo, jobExecutionId: items[0]?.jobExecutionId ?? 0 }))?.[0]
        ?.actor
    }

    // Each node hears the other again.
    let isHeard = false
    two.onEvents(() => {
      isHeard = true
    })
    let count = 0
    const tellAgain = async () => {
      if (!isHeard) await one.putDevices([devicePut(ownerNo, `new ${++count}`)])
      return isHeard
    }
    await waitUntil('the other node hears of it', tellAgain, { intervalMs: 50 })
  },
)

test('a store that is closed while the database is away closes', async () => {
  const url = await createDatabase(server.url)
  const store = await openPostgresStore({ url })
  const { trigger } = await seedOwner(store)
  const restarted = server.restart()
  const sent = Array.from({ length: 20 }, () =>
    store.createExecutions([trigger(['d1'])]).catch((error) => error),
  )
  await store.close()
  for (const outcome of await Promise.all(sent)) {
    assert.ok(Array.isArray(outcome) || outcome instanceof StorageUnavailable, String(outcome))
  }
  await restarted
})

test('a node can join after a crash, with a number of its own', async (t) => {
  const url = await createDatabase(server.url)
  const nodes = [await openPostgresStore({ url }), await openPostgresStore({ url })]
  t.after(() => Promise.all(nodes.map((node) => node.close())))
  // The sequence of a database that was just copied from a template begins again then.
  await server.restart()
  nodes.push(await openPostgresStore({ url }))
  const numbers = (await execute(url, 'SELECT node_no FROM node')).map((row) => row.node_no)
  assert.equal(new Set(numbers).size, nodes.length)
})
