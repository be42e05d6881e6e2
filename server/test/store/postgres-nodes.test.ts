// Several nodes on one database: nothing is done twice, nothing is lost, and no reader sees partial data.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import pg from 'pg'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { StoredEvent } from '../../src/domain/event/event.ts'
import type { Moved } from '../../src/domain/execution/ports/executions.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { NodeSignal } from '../../src/store/postgres/node-signal.ts'
import { report, startNext, update } from './device-reports.ts'
import { unfinishedStates } from './execution-model.ts'
import { openNodes } from './postgres-under-test.ts'
import {
  allExecutions,
  allRuns,
  answered,
  assertRunsAddUp,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  moveOf,
  runOf,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const now = momentAt(startedAt)
const later = momentAt(startedAt + 60_000)

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

async function eventsBehind(store: Store, ownerNo: number, after = 0): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (let place = after; ; ) {
    const look = await store.listEvents({ ownerNo, filter: {}, slice: { after: place, limit: 500 } })
    events.push(...look.events)
    place = look.upTo
    if (!look.more) return events
  }
}

test('followers of events miss none, however many writes run at once', async (t) => {
  const { nodes } = await openNodes(t)
  const [one, two] = nodes
  const owners = [await seedOwner(one), await seedOwner(one)]
  let isWriting = true
  const follow = async (node: Store, ownerNo: number) => {
    const seen: number[] = []
    for (let isLast = false; ; ) {
      const events = await eventsBehind(node, ownerNo, seen.at(-1))
      seen.push(...events.map(({ eventId }) => eventId))
      if (isLast) return seen
      isLast = !isWriting
    }
  }
  const followers = owners.flatMap(({ ownerNo }) => nodes.map((node) => follow(node, ownerNo)))
  const write = async (node: Store, writer: number) => {
    for (let round = 0; round < 15; round++) {
      const { ownerNo, trigger } = owners[(writer + round) % 2] as (typeof owners)[0]
      const [outcome] = await node.createExecutions([
        trigger(['d1', 'd2']),
        (owners[writer % 2] as (typeof owners)[0]).trigger(['d3']),
      ])
      const { firstExecutionId: id } = runOf(outcome)
      await node.recordReports([update({ ownerNo, deviceId: 'd1' }, id, 'SUCCEEDED')])
      await node.moveExecution(moveOf(ownerNo, id + 1, 'cancel'))
      await node.putDevices([devicePut(ownerNo, `${writer} ${round}`)])
    }
  }
  await Promise.all(times(8, (writer) => write(writer % 2 ? one : two, writer)))
  isWriting = false
  const seen = await Promise.all(followers)
  for (const [index, { ownerNo }] of owners.entries()) {
    const all = (await eventsBehind(one, ownerNo)).map(({ eventId }) => eventId)
    assert.ok(all.length > 300)
    assert.deepEqual(seen[2 * index], all)
    assert.deepEqual(seen[2 * index + 1], all)
  }
})

test('events created on one node are announced on the other', async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const events = new EventTarget()
  two.onEvents(() => events.dispatchEvent(new Event('new')))
  const heard = once(events, 'new')
  await seedOwner(one)
  await heard
})

test('however many hints a node has, it sends all of them in few messages', async (t) => {
  const url = await createDatabase(await sharedPostgres())
  const [speaker, listener] = [new NodeSignal(url, 1), new NodeSignal(url, 2)]
  t.after(() => Promise.all([speaker.close(), listener.close()]))
  const heard = new Set<number>()
  let events = 0
  listener.on('events', () => events++)
  listener.on('hint', (hint) => hint.kind === 'webhook-changed' && heard.add(hint.webhookNo))
  await Promise.all([speaker.open(), listener.open()])
  const say = (webhookNo: number) => {
    speaker.sendEvents()
    speaker.send({ kind: 'webhook-changed', webhookNo })
  }
  say(0)
  while (heard.size === 0) await nextTurn()
  assert.equal(listener.receivedFromOthers, 1, 'what is said in one turn is one message')
  const all = 300
  for (let webhookNo = 1; webhookNo < all; webhookNo++) {
    say(webhookNo)
    await sleep(1)
  }
  while (heard.size < all) await nextTurn()
  // Timers of a busy machine come in bunches: what counts is that not every one is a message.
  assert.ok(listener.receivedFromOthers < all / 2, `${listener.receivedFromOthers} messages for ${all}`)
  assert.ok(events > 0)
})

test('of two calls with one key on two nodes one creates the run, and both get its answer', async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const { ownerNo, trigger } = await seedOwner(one)
  const rounds = 25
  for (let round = 0; round < rounds; round++) {
    const keyed = (key: string) =>
      trigger(['d1', 'd3'], {
        idempotency: {
          key: `${key} ${round}`,
          requestHash: hash('sha256', key, 'buffer'),
          ...keyTimes(startedAt),
        },
      })
    // Each node has the keys in another order, so that they could wait for each other.
    const groups = [
      one.createExecutions([keyed('a'), keyed('b')]),
      two.createExecutions([keyed('b'), keyed('a')]),
      two.createExecutions([keyed('a')]),
      one.createExecutions([keyed('b'), trigger(['d2'])]),
    ]
    const [first, second, third, fourth] = await Promise.all(groups)
    for (const outcomes of [
      [first?.[0], second?.[1], third?.[0]],
      [first?.[1], second?.[0], fourth?.[0]],
    ]) {
      const kinds = outcomes.map((outcome) => outcome?.kind).sort()
      assert.deepEqual(kinds, ['created', 'replayed', 'replayed'])
      const runs = outcomes.map((outcome) => answered(runOf(outcome)))
      for (const run of runs) assert.deepEqual(run, runs[0])
    }
  }
  assert.equal((await allRuns(two, ownerNo)).length, rounds * 3)
  await assertRunsAddUp(one, ownerNo)
})

test(`devices deleted, put and renamed on one node while another triggers them (seed ${testSeed})`, async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const devices = times(6, (index) => `d${index}`)
  const { ownerNo, trigger } = await seedOwner(one, { devices })
  const launched: LaunchedRun[] = []
  let isDone = false
  const trigger3 = async (node: Store, seed: number) => {
    const random = seededRandom(testSeed + seed)
    for (let round = 0; round < 40; round++) {
      const wanted = [...new Set(times(3, () => random.pick(devices)))]
      const outcomes = await node.createExecutions([trigger(wanted), trigger([random.pick(devices)])])
      for (const outcome of outcomes) if (outcome.kind === 'created') launched.push(outcome.run)
    }
  }
  const change = async (node: Store, seed: number) => {
    const random = seededRandom(testSeed + seed)
    for (let round = 0; !isDone; round++) {
      const deviceId = random.pick(devices)
      if (random.below(3) === 0) await node.deleteDevice({ ownerNo, deviceId, moment: now, actor: 'key k1' })
      else await node.putDevices([devicePut(ownerNo, deviceId, `name ${seed} ${round}`)])
    }
  }
  const changing = [change(one, 1), change(two, 2)]
  await Promise.all([trigger3(one, 3), trigger3(two, 4), trigger3(two, 5)])
  isDone = true
  await Promise.all(changing)
  assert.ok(launched.length > 10)
  const stored = await allExecutions(two, ownerNo)
  const byId = new Map(stored.map((execution) => [execution.jobExecutionId, execution]))
  for (const { runId, firstExecutionId, devices } of launched) {
    for (const [index, { deviceId, deviceName }] of devices.entries()) {
      const execution = byId.get(firstExecutionId + index)
      assert.deepEqual(
        [execution?.runId, execution?.deviceId, execution?.deviceName],
        [runId, deviceId, deviceName],
      )
    }
  }
  assert.equal(
    stored.length,
    launched.reduce((sum, { devices }) => sum + devices.length, 0),
  )
  for (const deviceId of devices) {
    const isThere = (await one.getDevice({ ownerNo, deviceId })) !== undefined
    const waits = stored.some(
      (each) => each.deviceId === deviceId && unfinishedStates.includes(each.execState),
    )
    assert.ok(isThere || !waits, `executions wait for ${deviceId}, which is deleted`)
  }
  await assertRunsAddUp(one, ownerNo)
})

test('clocks fired on two nodes at once move each execution once, and all of them', async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const devices = times(1200, (index) => `d${index}`)
  const clocks = [
    { expireAfterSeconds: 30 },
    { deadlineSeconds: 30 },
    { timeoutSeconds: 30 },
    { expireAfterSeconds: 30, deadlineSeconds: 30 },
  ]
  for (const content of clocks) {
    const { ownerNo, trigger } = await seedOwner(one, { devices, content })
    const { runId } = await createOne(one, trigger(devices))
    for (const deviceId of devices.slice(0, 40)) await createOne(one, trigger([deviceId]))
    if (content.timeoutSeconds) {
      await two.recordReports(devices.map((deviceId) => startNext({ ownerNo, deviceId })))
    }
    const fire = async (node: Store) => {
      const all: Moved[] = []
      for (let more = true; more; ) {
        const fired = await node.fireClocks(later)
        all.push(...fired.moved)
        more = fired.more
      }
      return all
    }
    const fired = (await Promise.all([fire(one), fire(two), fire(one), fire(two)])).flat()
    // What one has passed over because another had it is the other's; nothing is left after a last look.
    fired.push(...(await fire(two)))
    const ids = fired.map(({ jobExecutionId }) => jobExecutionId)
    assert.equal(new Set(ids).size, ids.length, 'something was fired twice')
    assert.equal(ids.length, content.timeoutSeconds ? 1200 : 1240)
    const finished = (await eventsBehind(two, ownerNo)).filter(({ type }) => type === 'run.finished')
    assert.equal(finished.length, content.timeoutSeconds ? 1 : 41)
    assert.equal(
      (await one.listTransitions({ ownerNo, jobExecutionId: ids[0] ?? 0 }))?.length,
      content.timeoutSeconds ? 3 : 2,
    )
    assert.equal((await one.getRun({ ownerNo, runId }))?.counts.PENDING, 0)
    await assertRunsAddUp(two, ownerNo)
  }
})

test('a device that asks on two nodes at once is given one execution, and it is started once', async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const { ownerNo, trigger } = await seedOwner(one)
  const device = { ownerNo, deviceId: 'd1' }
  for (let round = 0; round < 20; round++) {
    const first = (await createOne(one, trigger(['d1']))).firstExecutionId
    await createOne(two, trigger(['d1']))
    const asked = await Promise.all([one, two, one, two].map((node) => report(node, startNext(device))))
    const given = asked.map((outcome) => {
      assert.ok(outcome.kind === 'done')
      return outcome
    })
    assert.deepEqual(
      given.map(({ execution }) => execution.jobExecutionId),
      [first, first, first, first],
    )
    assert.equal(given.filter(({ moved }) => moved !== undefined).length, 1)
    // An owner who gives up, and a device that is done, at the same time: one of them is right.
    const [cancel, done] = await Promise.all([
      two.moveExecution(moveOf(ownerNo, first, 'force-cancel')),
      report(one, update(device, first, 'SUCCEEDED')),
    ])
    assert.notEqual(cancel.kind === 'moved', done.kind === 'done', `${cancel.kind} and ${done.kind}`)
    await two.moveExecution(moveOf(ownerNo, first + 1, 'cancel'))
  }
  await assertRunsAddUp(two, ownerNo)
  const finished = (await eventsBehind(two, ownerNo)).filter(({ type }) => type === 'run.finished')
  assert.equal(finished.length, 40)
})

test('a device whose next executions are ended while it asks is given the one behind them', async (t) => {
  const { url, nodes } = await openNodes(t)
  const [store] = nodes
  const { ownerNo, trigger } = await seedOwner(store)
  const device = { ownerNo, deviceId: 'd1' }
  const ids: number[] = []
  for (let run = 0; run < 4; run++) ids.push((await createOne(store, trigger(['d1']))).firstExecutionId)
  const owner = new pg.Client(url)
  await owner.connect()
  t.after(() => owner.end())
  // It ends the first three, but has not committed when the device asks.
  await owner.query('BEGIN')
  await owner.query(
    `UPDATE execution SET state = 'CANCELED', finished_at = 1 WHERE execution_id = ANY ($1::bigint[])`,
    [ids.slice(0, 3)],
  )
  const asked = store.recordReports([startNext(device), startNext(device)])
  const isWaiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await execute(url, isWaiting)).length === 0);
  await owner.query('COMMIT')
  const given = await asked
  assert.deepEqual(
    given.map((outcome) => outcome.kind === 'done' && outcome.execution.jobExecutionId),
    [ids[3], ids[3]],
  )
})

test(`reports about the same runs, in any order on two nodes, all count (seed ${testSeed})`, async (t) => {
  const [one, two] = (await openNodes(t)).nodes
  const devices = times(20, (index) => `d${index}`)
  const { ownerNo, trigger } = await seedOwner(one, { devices })
  const runs = await Promise.all(times(8, (index) => createOne(index % 2 ? one : two, trigger(devices))))
  // A second apart: no progress event is held back.
  let second = 0
  const tell = async (node: Store, seed: number, status: 'IN_PROGRESS' | 'SUCCEEDED') => {
    const random = seededRandom(testSeed + seed)
    for (let round = 0; round < 25; round++) {
      const group = times(30, () => {
        const index = random.below(devices.length)
        const { firstExecutionId } = random.pick(runs)
        const moment = momentAt(startedAt + 1000 * ++second)
        return update({ ownerNo, deviceId: `d${index}` }, firstExecutionId + index, status, { moment })
      })
      await node.recordReports(group)
    }
  }
  await Promise.all([
    tell(one, 1, 'IN_PROGRESS'),
    tell(two, 2, 'IN_PROGRESS'),
    tell(one, 3, 'SUCCEEDED'),
    tell(two, 4, 'SUCCEEDED'),
    two.moveRun({
      ownerNo,
      runId: runs[3]?.runId ?? 0,
      from: undefined,
      event: 'cancel',
      moment: now,
      actor: 'key k1',
    }),
  ])
  await assertRunsAddUp(one, ownerNo)
  const events = await eventsBehind(one, ownerNo)
  for (const { jobExecutionId, versionNumber, execState } of await allExecutions(two, ownerNo)) {
    const changes = events.flatMap(({ data }) => ('jobExecutionId' in data ? [data] : []))
    const own = changes.filter((change) => change.jobExecutionId === jobExecutionId)
    // Each change was built on the one before it.
    assert.deepEqual(
      own.map((change) => change.versionNumber),
      times(versionNumber - 1, (index) => index + 2),
    )
    if (own.length > 0) assert.equal(own.at(-1)?.execState, execState)
  }
})

test('where ids leave a partition the next one exists', async (t) => {
  const { url, nodes } = await openNodes(t)
  const [one, two] = nodes
  const devices = times(50, (index) => `d${index}`)
  const { ownerNo, trigger } = await seedOwner(one, { devices })
  const before = await createOne(one, trigger(devices))
  await execute(url, "SELECT setval('last_execution_id', 39999979)")
  const runs = await Promise.all([one, two, one, two].map((node) => createOne(node, trigger(devices))))
  const last = Math.max(...runs.map(({ firstExecutionId }) => firstExecutionId))
  // A call that finds no partition has used up its ids.
  assert.ok(last >= 39_999_980 + 3 * 50 && last <= 39_999_980 + 7 * 50, `${last}`)
  const listed = await allExecutions(two, ownerNo)
  assert.equal(listed.length, 250)
  assert.equal((await allExecutions(one, ownerNo, { deviceId: 'd7' })).length, 5)
  const [queue] = await two.readQueues([{ ownerNo, deviceId: 'd7' }])
  assert.ok(typeof queue === 'object' && queue.total === 5)
  assert.equal(queue.executions[0]?.jobExecutionId, before.firstExecutionId + 7)
  await assertRunsAddUp(one, ownerNo)
})
