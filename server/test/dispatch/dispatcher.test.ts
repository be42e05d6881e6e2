// The notices of connected devices and their times, with a real store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { laterBy, type SteadyInstant, steadyInstant } from '../../src/domain/common/instants.ts'
import { deviceText } from '../../src/domain/device/ports/device-link.ts'
import { momentAt, startedAt } from '../store/store-under-test.ts'
import { type Dispatching, openDispatcher, openSharedStore, RecordingSession } from './open-dispatcher.ts'

const store = await openSharedStore()
const device = 'd1'

async function openOne() {
  const all = await openDispatcher(store)
  const session = await all.connect(device)
  return { ...all, session, key: all.keyOf(device) }
}

async function launchTo({ launch, dispatcher, ownerNo }: Dispatching, ids?: string[]): Promise<number> {
  const run = await launch(ids)
  dispatcher.launched(ownerNo, run)
  await dispatcher.quiet()
  return run.firstExecutionId
}

async function wake({ dispatcher, keyOf }: Dispatching, deviceId = device): Promise<void> {
  dispatcher.wake([keyOf(deviceId)])
  await dispatcher.quiet()
}

test('a device that connects is notified of waiting executions, oldest first', async () => {
  const all = await openDispatcher(store)
  const first = await launchTo(all)
  await launchTo(all)
  const session = await all.connect(device)
  assert.deepEqual(session.notices, [`list ${first} ${first + 1}`, `next ${first}`])
})

test('a device without waiting executions gets no notice', async () => {
  const { session } = await openOne()
  assert.deepEqual(session.notices, [])
})

test('the queue of a device without subscriptions is not read', async () => {
  const all = await openDispatcher(store)
  const session = await all.connect(device, { wants: { list: false, next: false, cancel: false } })
  await launchTo(all)
  await wake(all)
  await all.dispatcher.sweep()
  assert.deepEqual([session.notices, all.looks], [[], []])
})

test('a later subscription causes only its own notices', async () => {
  const all = await openDispatcher(store)
  const id = await launchTo(all)
  const session = await all.connect(device, { wants: { list: true, next: false, cancel: false } })
  assert.deepEqual(session.takeNotices(), [`list ${id}`])
  session.wants = { list: true, next: true, cancel: false }
  all.dispatcher.refresh(session)
  await all.dispatcher.quiet()
  assert.deepEqual(session.takeNotices(), [`next ${id}`])
})

/** A connection that has subscribed, in a world where time passes only when the test says so. */
async function greetOne(t: TestContext, wants: Partial<RecordingSession['wants']> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const all = await openDispatcher(store)
  const session = new RecordingSession(all.keyOf(device))
  session.wants = { ...session.wants, ...wants }
  all.dispatcher.open(session)
  return {
    ...all,
    session,
    greet: () => all.dispatcher.greet(session),
    async pass(ms: number) {
      t.mock.timers.tick(ms)
      await all.dispatcher.quiet()
    },
  }
}

test('a device that has subscribed is notified after a second, during which it may request its queue', async (t) => {
  const { greet, pass, session, ...all } = await greetOne(t)
  const { firstExecutionId: id } = await all.launch()
  greet()
  await pass(999)
  assert.deepEqual(session.notices, [])
  await pass(1)
  assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
  await pass(10_000)
  assert.deepEqual(session.notices, [])
})

test('each subscription restarts the second', async (t) => {
  const { greet, pass, session, ...all } = await greetOne(t)
  await all.launch()
  greet()
  await pass(999)
  greet()
  await pass(999)
  assert.deepEqual(session.notices, [])
  await pass(1)
  assert.equal(session.notices.length, 2)
})

test('a device that requests its queue in that second is not notified of the response', async (t) => {
  const { greet, pass, session, ...all } = await greetOne(t, { list: false })
  const { firstExecutionId: first } = await all.launch()
  const { firstExecutionId: second } = await all.launch()
  greet()
  const started = await all.report(device, { kind: 'start-next' })
  assert.ok('execution' in started)
  all.dispatcher.answered(session, { next: started.execution })
  await pass(1000)
  assert.deepEqual(session.notices, [])
  await all.report(device, { kind: 'update', jobExecutionId: first, status: 'SUCCEEDED' })
  await wake(all)
  assert.deepEqual(session.notices, [`next ${second}`])
})

test('a device that requests its queue in that second on another connection is notified there', async (t) => {
  const { greet, pass, session: older, ...all } = await greetOne(t)
  const { firstExecutionId: id } = await all.launch()
  greet()
  const newer = new RecordingSession(all.keyOf(device))
  all.dispatcher.open(newer)
  all.dispatcher.answered(older, { next: undefined })
  all.dispatcher.greet(newer)
  await pass(1000)
  assert.deepEqual([older.notices, newer.notices], [[], [`list ${id}`, `next ${id}`]])
})

test('a launch in that second is notified at once, also to a device that just got an empty queue', async (t) => {
  for (const hasAsked of [false, true]) {
    const { greet, pass, session, ...all } = await greetOne(t)
    greet()
    if (hasAsked) all.dispatcher.answered(session, { next: undefined })
    const id = await launchTo(all)
    assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
    await pass(1000)
    assert.deepEqual(session.takeNotices(), [])
    t.mock.timers.reset()
  }
})

test('a device that disconnects in that second gets no notice', async (t) => {
  const { greet, pass, session, ...all } = await greetOne(t)
  await all.launch()
  greet()
  all.dispatcher.leave(session)
  await pass(1000)
  assert.deepEqual([session.notices, all.looks], [[], []])
})

test('duplicate wake-ups cause one read and no duplicate notices', async () => {
  const all = await openOne()
  const { session, looks, dispatcher, key } = all
  const run = await all.launch()
  looks.length = 0
  for (let i = 0; i < 10; i++) dispatcher.wake([key, key])
  await dispatcher.quiet()
  const id = run.firstExecutionId
  assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
  assert.deepEqual(looks, [1])
  dispatcher.launched(all.ownerNo, run)
  for (let i = 0; i < 3; i++) await wake(all)
  await dispatcher.sweep()
  assert.deepEqual(session.takeNotices(), [])
})

test('a wake-up during a read causes another read', async () => {
  const all = await openOne()
  const { session, hold, dispatcher, key } = all
  const first = await all.launch()
  const gate = Promise.withResolvers<void>()
  hold.look = gate.promise
  dispatcher.wake([key])
  await nextTurn()
  await nextTurn()
  delete hold.look
  const second = await all.launch()
  dispatcher.wake([key])
  gate.resolve()
  await dispatcher.quiet()
  const [a, b] = [first.firstExecutionId, second.firstExecutionId]
  assert.deepEqual(session.notices, [`list ${a}`, `next ${a}`, `list ${a} ${b}`])
})

test('a launch during an earlier read is not overtaken by it', async () => {
  const all = await openOne()
  const { session, hold, dispatcher, key } = all
  const gate = Promise.withResolvers<void>()
  hold.look = gate.promise
  dispatcher.wake([key])
  await nextTurn()
  await nextTurn()
  delete hold.look
  // The look has read an empty queue, and has not told it yet.
  const run = await all.launch()
  dispatcher.launched(all.ownerNo, run)
  gate.resolve()
  await dispatcher.quiet()
  const id = run.firstExecutionId
  assert.deepEqual(session.notices, [`list ${id}`, `next ${id}`])
})

test('a late launch notice does not contain ended executions', async () => {
  const all = await openOne()
  const { session, dispatcher, key, hold } = all
  const gate = Promise.withResolvers<void>()
  hold.document = gate.promise
  const run = await all.launch()
  dispatcher.launched(all.ownerNo, run)
  // The device had asked by itself, and is quicker.
  const update = { kind: 'update', jobExecutionId: run.firstExecutionId, status: 'SUCCEEDED' } as const
  await all.report(device, update)
  dispatcher.wake([key])
  await dispatcher.sweep()
  gate.resolve()
  await dispatcher.quiet()
  assert.deepEqual(session.notices, [])
})

test('the fast path of a launch sends the same notices as a read', async () => {
  const all = await openDispatcher(store, { devices: 2 })
  const [fast, slow] = [await listen(all, 'd1'), await listen(all, 'd2')]
  all.looks.length = 0
  for (let i = 0; i < 3; i++) await launchTo(all, ['d1'])
  assert.equal(all.looks.length, 2, 'the first of them is told without a look')
  for (let i = 0; i < 3; i++) {
    await all.launch(['d2'])
    await wake(all, 'd2')
  }
  assert.equal(all.looks.length, 5)
  assert.deepEqual(fast, slow)
  await all.deliveries.record()
  const { items } = await store.listExecutions({
    ownerNo: all.ownerNo,
    filter: {},
    slice: { after: undefined, limit: 10 },
  })
  assert.equal(items.filter(({ notifiedAt }) => notifiedAt !== null).length, 6)
})

/** What it is told, whole; ids begin with 0, marks and runs are left out. */
async function listen({ connect }: Dispatching, deviceId: string): Promise<unknown[]> {
  const heard: unknown[] = []
  const ids: number[] = []
  const session = await connect(deviceId)
  session.send = (notice) => {
    const inShort = (name: string, value: unknown) => {
      if (name === 'mark' || name === 'runId') return undefined
      if (name !== 'jobExecutionId') return value
      if (!ids.includes(value as number)) ids.push(value as number)
      return ids.indexOf(value as number)
    }
    heard.push(JSON.parse(JSON.stringify(notice, inShort)))
  }
  return heard
}

test('after a launch by the fast path the next read repeats no notice', async () => {
  const all = await openOne()
  const id = await launchTo(all)
  assert.deepEqual(all.session.takeNotices(), [`list ${id}`, `next ${id}`])
  await all.dispatcher.sweep()
  await wake(all)
  assert.deepEqual(all.session.takeNotices(), [])
})

test('the queue of a device subscribed only to the next execution is not read for later ones', async () => {
  const all = await openDispatcher(store)
  const session = await all.connect(device, { wants: { list: false, next: true, cancel: false } })
  const first = await launchTo(all)
  all.looks.length = 0
  const second = await launchTo(all)
  await launchTo(all)
  assert.deepEqual([session.takeNotices(), all.looks], [[`next ${first}`], []])
  await all.report(device, { kind: 'update', jobExecutionId: first, status: 'SUCCEEDED' })
  await wake(all)
  assert.deepEqual(session.takeNotices(), [`next ${second}`])
})

test('a start sends no notice; the end of the first notifies of the next one, the end of the last that nothing is pending', async () => {
  const all = await openOne()
  const { session } = all
  const first = await launchTo(all)
  const second = await launchTo(all)
  session.takeNotices()
  await all.report(device, { kind: 'start-next' })
  await wake(all)
  assert.deepEqual(session.takeNotices(), [])
  for (const [id, then] of [
    [first, [`list ${second}`, `next ${second}`]],
    [second, ['list', 'next']],
  ] as const) {
    await all.report(device, { kind: 'update', jobExecutionId: id, status: 'SUCCEEDED' })
    await wake(all)
    assert.deepEqual(session.takeNotices(), then)
  }
})

test('a congested connection is notified once it is ready again', async () => {
  const all = await openOne()
  const { session, dispatcher } = all
  session.isReady = false
  const first = await launchTo(all)
  await launchTo(all)
  await wake(all)
  await dispatcher.sweep()
  assert.deepEqual(session.notices, [])
  session.isReady = true
  dispatcher.refresh(session)
  await dispatcher.quiet()
  assert.deepEqual(session.notices, [`list ${first} ${first + 1}`, `next ${first}`])
})

test('a connection that is ready again, but has not refreshed yet, gets notices in the right order', async () => {
  const all = await openDispatcher(store)
  const first = await launchTo(all)
  const session = await all.connect(device, { isReady: false })
  session.isReady = true
  await launchTo(all)
  await all.dispatcher.sweep()
  assert.deepEqual(session.notices, [`list ${first} ${first + 1}`, `next ${first}`])
})

test('a connection whose first read failed gets notices in the right order', async () => {
  const all = await openDispatcher(store)
  const first = await launchTo(all)
  all.hold.failure = new Error('for now')
  const session = await all.connect(device)
  delete all.hold.failure
  await launchTo(all)
  await all.dispatcher.sweep()
  assert.deepEqual(session.notices, [`list ${first} ${first + 1}`, `next ${first}`])
})

test('a failed read is reported, and repeated by the sweep', async () => {
  const all = await openOne()
  const { session, hold, dispatcher, failures } = all
  const run = await all.launch()
  hold.failure = new Error('the storage is away')
  await wake(all)
  await dispatcher.sweep()
  assert.deepEqual(session.notices, [])
  assert.deepEqual(failures, [hold.failure, hold.failure])
  delete hold.failure
  await dispatcher.sweep()
  const id = run.firstExecutionId
  assert.deepEqual(session.notices, [`list ${id}`, `next ${id}`])
})

test('the sweep compensates for a lost wake-up, and reads only changed queues', async () => {
  const all = await openDispatcher(store, { devices: 3 })
  const sessions = await Promise.all(all.deviceIds.map((id) => all.connect(id)))
  all.changed.length = 0
  const { firstExecutionId: id } = await all.launch(['d2'])
  await all.dispatcher.sweep()
  assert.deepEqual(
    sessions.map((session) => session.notices),
    [[], [`list ${id}`, `next ${id}`], []],
  )
  assert.deepEqual(all.changed, ['d2'])
})

test('the newer connection of a device gets all notices, the older one is closed and gets none', async () => {
  const all = await openOne()
  const { session: older, dispatcher } = all
  const first = await launchTo(all)
  older.takeNotices()
  const newer = await all.connect(device)
  assert.deepEqual([older.closed, newer.closed], ['taken-over', undefined])
  assert.deepEqual(newer.takeNotices(), [`list ${first}`, `next ${first}`])
  // The close of the older one is noticed after the newer one has come.
  dispatcher.leave(older)
  dispatcher.leave(older)
  const second = await launchTo(all)
  assert.deepEqual(newer.takeNotices(), [`list ${first} ${second}`])
  assert.deepEqual(older.takeNotices(), [])
  assert.equal(all.presence.connected, 1)
  dispatcher.leave(newer)
  assert.equal(all.presence.connected, 0)
})

test('a read for an older connection does not take notices from the newer one', async () => {
  const all = await openOne()
  const { session: older, hold, dispatcher, key } = all
  const run = await all.launch()
  const gate = Promise.withResolvers<void>()
  hold.look = gate.promise
  dispatcher.wake([key])
  await nextTurn()
  await nextTurn()
  delete hold.look
  const newer = new RecordingSession(key)
  dispatcher.open(newer)
  dispatcher.refresh(newer)
  older.isReady = false
  gate.resolve()
  await dispatcher.quiet()
  const id = run.firstExecutionId
  assert.deepEqual([older.notices, newer.notices], [[], [`list ${id}`, `next ${id}`]])
})

test('a disconnected device gets no notice', async () => {
  const all = await openOne()
  all.dispatcher.leave(all.session)
  await launchTo(all)
  await wake(all)
  await all.dispatcher.sweep()
  assert.deepEqual(all.session.notices, [])
})

test('a void credential closes the connection of that device only', async () => {
  const all = await openDispatcher(store, { devices: 2 })
  const [first, second] = await Promise.all(all.deviceIds.map((id) => all.connect(id)))
  all.dispatcher.disconnect(all.keyOf('d1'))
  all.dispatcher.disconnect(all.keyOf('nobody'))
  assert.deepEqual([first?.closed, second?.closed], ['credential-void', undefined])
})

test('a cancel is notified once per connection, and again on the next connection', async () => {
  const all = await openOne()
  const { session, dispatcher } = all
  const id = await launchTo(all)
  await all.report(device, { kind: 'start-next' })
  session.takeNotices()
  await all.move(id, 'cancel')
  for (let i = 0; i < 3; i++) {
    await wake(all)
    await dispatcher.sweep()
  }
  assert.deepEqual(session.takeNotices(), [`cancel ${id}`])
  await launchTo(all)
  assert.deepEqual(session.takeNotices(), [`list ${id} ${id + 1}`])
  dispatcher.leave(session)
  const next = await all.connect(device)
  assert.deepEqual(next.takeNotices(), [`list ${id} ${id + 1}`, `next ${id}`, `cancel ${id}`])
})

test('a cancel is also notified once to a device subscribed only to cancels', async () => {
  const all = await openDispatcher(store)
  const session = await all.connect(device, { wants: { list: false, next: false, cancel: true } })
  const id = await launchTo(all)
  await all.report(device, { kind: 'start-next' })
  await all.move(id, 'cancel')
  await wake(all)
  assert.deepEqual(session.takeNotices(), [`cancel ${id}`])
  await launchTo(all)
  await wake(all)
  await all.dispatcher.sweep()
  assert.deepEqual(session.takeNotices(), [])
})

test('a withdrawal is notified at once to subscribed devices', async () => {
  const all = await openOne()
  const { session, dispatcher, key } = all
  dispatcher.withdraw(key, 7)
  assert.deepEqual(session.takeNotices(), ['cancel 7'])
  session.wants = { list: true, next: true, cancel: false }
  dispatcher.withdraw(key, 8)
  dispatcher.withdraw(all.keyOf('nobody'), 9)
  assert.deepEqual(session.takeNotices(), [])
})

test('a retry is notified when its delay is over, not before', async () => {
  const retry = { max: 1, backoffSeconds: 60, on: ['FAILED' as const] }
  const all = await openDispatcher(store, { content: { retry } })
  const session = await all.connect(device)
  const id = await launchTo(all)
  session.takeNotices()
  await all.report(device, { kind: 'update', jobExecutionId: id, status: 'FAILED' })
  await wake(all)
  assert.deepEqual(session.takeNotices(), ['list', 'next'])
  await store.fireClocks(momentAt(startedAt + 60_000))
  await all.dispatcher.sweep()
  assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
})

test('1000 devices are notified of a run in slices, and the event loop is released in between', async () => {
  const all = await openDispatcher(store, { devices: 1000 })
  const { dispatcher, deviceIds } = all
  const sessions = deviceIds.map((id) => new RecordingSession(all.keyOf(id)))
  for (const session of sessions) {
    dispatcher.open(session)
    dispatcher.refresh(session)
  }
  await dispatcher.quiet()
  assert.deepEqual(all.looks, [250, 250, 250, 250])
  const run = await all.launch()
  dispatcher.launched(all.ownerNo, run)
  const notified = () => sessions.filter((session) => session.notices.length > 0).length
  const seen = new Set<number>()
  while (notified() < 1000) {
    await nextTurn()
    seen.add(notified())
  }
  await dispatcher.quiet()
  assert.ok(seen.size >= 4, `they were notified in ${seen.size} turns`)
  for (const [index, session] of sessions.entries()) {
    const id = run.firstExecutionId + index
    assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
  }
  all.looks.length = 0
  await dispatcher.sweep()
  assert.deepEqual(all.looks, [250, 250, 250, 250])
  assert.equal(notified(), 0)
})

test('one sweep notifies 1000 devices that were not notified of a run', async () => {
  const all = await openDispatcher(store, { devices: 1000 })
  const sessions = all.deviceIds.map((id) => new RecordingSession(all.keyOf(id)))
  for (const session of sessions) all.dispatcher.open(session)
  const run = await all.launch()
  await all.dispatcher.sweep()
  for (const [index, session] of sessions.entries()) {
    const id = run.firstExecutionId + index
    assert.deepEqual(session.takeNotices(), [`list ${id}`, `next ${id}`])
  }
})

test('a long poll is notified of a launch, a wake-up and an invalid credential', async () => {
  const all = await openDispatcher(store)
  const { dispatcher, queues, key } = { ...all, key: all.keyOf(device) }
  const run = await all.launch()
  const tellers: [string, () => void][] = [
    ['launch', () => dispatcher.launched(all.ownerNo, run)],
    ['wake-up', () => dispatcher.wake([key])],
    ['void credential', () => dispatcher.disconnect(key)],
  ]
  for (const [name, tell] of tellers) {
    const watch = queues.openWatch(deviceText(key))
    tell()
    await dispatcher.quiet()
    const outcomes = [watch.nextChange(60_000, AbortSignal.timeout(1)), nextTurn('not told')]
    assert.equal(await Promise.race(outcomes), undefined, name)
    watch.close()
  }
})

test('a sent execution is recorded once, and so is an acknowledged one', async () => {
  const all = await openOne()
  const id = await launchTo(all)
  await all.deliveries.record()
  const read = async () => {
    const { notifiedAt, deliveredAt } =
      (await store.getExecution({ ownerNo: all.ownerNo, jobExecutionId: id })) ?? {}
    return [notifiedAt, deliveredAt]
  }
  assert.deepEqual(await read(), [startedAt, null])
  all.dispatcher.delivered([id])
  await all.deliveries.record()
  assert.deepEqual(await read(), [startedAt, startedAt])
})

test('a session found to be taken over is closed, one that was opened meanwhile is not', async () => {
  const { dispatcher, session, key, connect } = await openOne()
  const since = dispatcher.openSession(key)?.since as SteadyInstant
  const newer = await connect(device)
  assert.equal(session.closed, 'taken-over')
  for (const reason of ['taken-over', 'credential-void'] as const) {
    dispatcher.closeStale({ ...key, since: laterBy(-1, since), reason })
    assert.equal(newer.closed, undefined)
  }
  dispatcher.closeStale({ ...key, since, reason: 'credential-void' })
  assert.equal(newer.closed, 'credential-void')
})

test('a session is newer than an earlier one on a node whose clock is ahead', async () => {
  const { dispatcher, session, key, connect } = await openOne()
  const ahead = steadyInstant(startedAt + 20)
  dispatcher.takenOver(key, { since: ahead, nodeNo: 1 })
  assert.equal(session.closed, 'taken-over')
  const back = await connect(device)
  assert.equal(dispatcher.openSession(key)?.since, ahead + 1)
  dispatcher.takenOver(key, { since: ahead, nodeNo: 1 })
  assert.equal(back.closed, undefined)
})

test('a session that a node with a higher number opened in the same millisecond is newer, not one with a lower', async () => {
  const { dispatcher, session, key } = await openOne()
  const since = dispatcher.openSession(key)?.since as SteadyInstant
  dispatcher.takenOver(key, { since, nodeNo: 0 })
  assert.equal(session.closed, undefined)
  dispatcher.takenOver(key, { since, nodeNo: 1 })
  assert.equal(session.closed, 'taken-over')
})

test('devices that have continued with a run of another node are not notified of it', async () => {
  const all = await openOne()
  const run = await all.launch([device])
  const launch = all.dispatcher.beginLaunch()
  await wake(all)
  await all.report(device, { kind: 'update', jobExecutionId: run.firstExecutionId, status: 'SUCCEEDED' })
  await wake(all)
  const told = all.session.takeNotices()
  assert.equal(told.at(-1), 'next')
  all.dispatcher.launched(all.ownerNo, run, launch)
  await all.dispatcher.quiet()
  assert.deepEqual(all.session.notices, [])
})

test('announcements and reads wait until the connection that sessions share has room', async () => {
  const all = await openDispatcher(store, { devices: 2 })
  const [told, read] = [await all.connect('d1'), await all.connect('d2')]
  all.looks.length = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  all.hold.room = promise
  const run = await all.launch(['d1'])
  all.dispatcher.launched(all.ownerNo, run)
  const other = await all.launch(['d2'])
  all.dispatcher.wake([all.keyOf('d2')])
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.equal(all.dispatcher.pending, 1)
  assert.deepEqual([told.notices, read.notices, all.looks], [[], [], []])
  delete all.hold.room
  resolve()
  await all.dispatcher.quiet()
  assert.equal(all.dispatcher.pending, 0)
  const noticesOf = ({ firstExecutionId: id }: typeof run) => [`list ${id}`, `next ${id}`]
  assert.deepEqual([told.notices, read.notices], [noticesOf(run), noticesOf(other)])
  assert.deepEqual(all.looks, [1], 'only one was read')
})
