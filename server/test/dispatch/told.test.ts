// What is news to a device, by what it was told last.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecState } from '@jobcast/contract'
import { Told } from '../../src/dispatch/told.ts'
import type { DeviceExecution, DeviceQueue } from '../../src/domain/device-report.ts'
import { steadyInstant } from '../../src/domain/instants.ts'
import { RecordingSession } from './open-dispatcher.ts'

const everything = { list: true, next: true, cancel: true }

function execution(jobExecutionId: number, execState: ExecState = 'PENDING', attempt = 1): DeviceExecution {
  return {
    jobExecutionId,
    execState,
    attempt,
    versionNumber: 1,
    statusDetails: {},
    launchedAt: 0,
    startedAt: null,
    updatedAt: 0,
    timesOutAt: null,
    notified: false,
    jobVersion: 1,
  }
}

function queue(...executions: DeviceExecution[]): DeviceQueue {
  return { mark: 1, total: executions.length, executions }
}

function toldWith(wants = everything): { told: Told; session: RecordingSession } {
  const session = new RecordingSession({ ownerNo: 1, deviceId: 'd1' })
  session.wants = wants
  return { told: new Told(session, steadyInstant(0)), session }
}

function newsIn(told: Told, now: DeviceQueue) {
  return {
    list: told.isNewList(now),
    next: told.isNewNext(now),
    cancels: told.newCancels(now).map(({ jobExecutionId }) => jobExecutionId),
    seen: told.newlySeen(now).map(({ jobExecutionId }) => jobExecutionId),
  }
}

const none = { list: false, next: false, cancels: [], seen: [] }

// The table of notifications in docs: what the device was told, what the queue is now, what of it is news.
const table: [string, DeviceQueue, DeviceQueue, ReturnType<typeof newsIn>][] = [
  ['nothing waits, as before', queue(), queue(), none],
  ['new, list was empty', queue(), queue(execution(1)), { ...none, list: true, next: true, seen: [1] }],
  [
    'new, others waiting',
    queue(execution(1)),
    queue(execution(1), execution(2)),
    { ...none, list: true, seen: [1, 2] },
  ],
  ['the first one has started', queue(execution(1)), queue(execution(1, 'IN_PROGRESS')), none],
  [
    'a later one has started',
    queue(execution(1), execution(2)),
    queue(execution(2, 'IN_PROGRESS'), execution(1)),
    { ...none, next: true, seen: [2] },
  ],
  ['the last one has ended', queue(execution(1)), queue(), { ...none, list: true, next: true }],
  [
    'the first one has ended',
    queue(execution(1), execution(2)),
    queue(execution(2)),
    { ...none, list: true, next: true, seen: [2] },
  ],
  [
    'a later one has ended',
    queue(execution(1), execution(2)),
    queue(execution(1)),
    { ...none, list: true, seen: [1] },
  ],
  [
    'another attempt of the same',
    queue(execution(1)),
    queue(execution(1, 'PENDING', 2)),
    { ...none, list: true, next: true, seen: [1] },
  ],
  [
    'one is being canceled',
    queue(execution(1, 'IN_PROGRESS')),
    queue(execution(1, 'CANCELING')),
    { ...none, cancels: [1] },
  ],
  ['it still is', queue(execution(1, 'CANCELING')), queue(execution(1, 'CANCELING')), none],
  [
    'more than a device is shown',
    { ...queue(execution(1)), total: 11 },
    { ...queue(execution(1)), total: 12 },
    { ...none, list: true, seen: [1] },
  ],
]
for (const [change, before, now, news] of table) {
  test(`news when ${change}`, () => {
    const { told } = toldWith()
    told.remember(before)
    assert.deepEqual(newsIn(told, now), news)
    told.remember(now)
    assert.deepEqual(newsIn(told, now), none, 'it is no news any more')
  })
}

test('a connection begins as if it had been told that nothing waits', () => {
  const { told } = toldWith()
  assert.deepEqual(newsIn(told, queue()), none)
  const waiting = queue(execution(1, 'CANCELING'), execution(2))
  assert.deepEqual(newsIn(told, waiting), { list: true, next: true, cancels: [1], seen: [1, 2] })
})

test('what it did not want it was not told: it is news once it wants it', () => {
  const { told, session } = toldWith({ list: false, next: false, cancel: false })
  const now = queue(execution(1, 'CANCELING'))
  assert.deepEqual(newsIn(told, now), none)
  told.remember(now)
  session.wants = everything
  assert.deepEqual(newsIn(told, now), { list: true, next: true, cancels: [1], seen: [1] })
})

test('what it has unsubscribed from and wants again is news again', () => {
  const { told, session } = toldWith()
  const now = queue(execution(1, 'CANCELING'))
  told.remember(now)
  session.wants = { list: false, next: false, cancel: false }
  told.remember(now)
  session.wants = everything
  assert.deepEqual(newsIn(told, now), { list: true, next: true, cancels: [1], seen: [1] })
})

test('it knows that nothing waits only when it was told so', () => {
  const { told } = toldWith()
  told.remember(queue())
  assert.equal(told.knowsEmpty, true)
  told.remember(queue(execution(1)))
  assert.equal(told.knowsEmpty, false)
  told.remember(queue())
  assert.equal(told.knowsEmpty, true)
})

test('who wants nothing knows nothing', () => {
  const { told, session } = toldWith({ list: false, next: false, cancel: false })
  told.remember(queue())
  assert.deepEqual([told.wantsAny, told.knowsEmpty], [false, false])
  session.wants = { list: false, next: true, cancel: false }
  assert.equal(told.wantsAny, true)
})
