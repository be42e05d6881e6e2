// Whether a notice is new for a device, compared with its last notice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecState } from '@jobcast/contract'
import { NoticeState } from '../../src/dispatch/notice-state.ts'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { DeviceExecution, DeviceQueue } from '../../src/domain/execution/device-report.ts'
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
    runId: 1,
    jobVersion: 1,
    priority: 5,
  }
}

function queue(...executions: DeviceExecution[]): DeviceQueue {
  return { mark: 1, total: executions.length, executions }
}

function noticesWith(wants = everything): { notices: NoticeState; session: RecordingSession } {
  const session = new RecordingSession({ ownerNo: 1, deviceId: 'd1' })
  session.wants = wants
  return { notices: new NoticeState(session, steadyInstant(0)), session }
}

function newsIn(notices: NoticeState, now: DeviceQueue) {
  return {
    list: notices.isNewList(now),
    next: notices.isNewNext(now),
    cancels: notices.newCancels(now).map(({ jobExecutionId }) => jobExecutionId),
    seen: notices.newlySeen(now).map(({ jobExecutionId }) => jobExecutionId),
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
    'the same is offered again after its device said not now',
    queue(execution(1, 'IN_PROGRESS')),
    queue({ ...execution(1), versionNumber: 3 }),
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
    const { notices } = noticesWith()
    notices.remember(before)
    assert.deepEqual(newsIn(notices, now), news)
    notices.remember(now)
    assert.deepEqual(newsIn(notices, now), none, 'it is no news any more')
  })
}

test('a connection begins as if it had been notified that nothing is pending', () => {
  const { notices } = noticesWith()
  assert.deepEqual(newsIn(notices, queue()), none)
  const waiting = queue(execution(1, 'CANCELING'), execution(2))
  assert.deepEqual(newsIn(notices, waiting), { list: true, next: true, cancels: [1], seen: [1, 2] })
})

test('a notice without a subscription counts as new after a subscription', () => {
  const { notices, session } = noticesWith({ list: false, next: false, cancel: false })
  const now = queue(execution(1, 'CANCELING'))
  assert.deepEqual(newsIn(notices, now), none)
  notices.remember(now)
  session.wants = everything
  assert.deepEqual(newsIn(notices, now), { list: true, next: true, cancels: [1], seen: [1] })
})

test('after unsubscribing and subscribing again the notice is new again', () => {
  const { notices, session } = noticesWith()
  const now = queue(execution(1, 'CANCELING'))
  notices.remember(now)
  session.wants = { list: false, next: false, cancel: false }
  notices.remember(now)
  session.wants = everything
  assert.deepEqual(newsIn(notices, now), { list: true, next: true, cancels: [1], seen: [1] })
})

test('a device is considered informed of an empty queue only after a notice', () => {
  const { notices } = noticesWith()
  notices.remember(queue())
  assert.equal(notices.knowsEmpty, true)
  notices.remember(queue(execution(1)))
  assert.equal(notices.knowsEmpty, false)
  notices.remember(queue())
  assert.equal(notices.knowsEmpty, true)
})

test('a device that was notified of its next execution is notified of a new one only if that has a higher priority', () => {
  const { notices } = noticesWith({ list: false, next: true, cancel: false })
  notices.remember(queue({ ...execution(1), priority: 5 }))
  assert.equal(notices.knowsNextBefore({ priority: 5 }), true)
  assert.equal(notices.knowsNextBefore({ priority: 6 }), false)
  notices.remember(queue({ ...execution(1), priority: 2 }))
  assert.equal(notices.knowsNextBefore({ priority: 5 }), false)
  assert.equal(notices.knowsNextBefore({ priority: 2 }), true)
})

test('a device without subscriptions has received nothing', () => {
  const { notices, session } = noticesWith({ list: false, next: false, cancel: false })
  notices.remember(queue())
  assert.deepEqual([notices.wantsAny, notices.knowsEmpty], [false, false])
  session.wants = { list: false, next: true, cancel: false }
  assert.equal(notices.wantsAny, true)
})
