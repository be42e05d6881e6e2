import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transition } from '@jobcast/client'
import { type Facts, spansOf } from '../src/screens/execution/timeline.ts'

const start = Date.parse('2026-11-15T09:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

function move(seconds: number, from: Transition['from'], to: Transition['to'], attempt = 1): Transition {
  const by = { event: 'any', actor: 'device', actorName: null, reason: null }
  return { at: at(seconds), from, to, ...by, attempt, versionNumber: seconds }
}

function described(facts: Partial<Facts>): string[] {
  const all: Facts = {
    history: [],
    execution: { notBefore: null },
    presence: [],
    device: { online: true, since: at(-1000) },
    earlier: [],
    now: start + 600_000,
    ...facts,
  }
  return spansOf(all).map(
    ({ why, from, to, isOpen, behind, awayMs }) =>
      `${why} ${(from - start) / 1000}-${isOpen ? '' : (to - start) / 1000}${behind ? ` #${behind}` : ''}${awayMs ? ` away ${awayMs / 1000}` : ''}`,
  )
}

const ran = [
  move(0, null, 'PENDING'),
  move(240, 'PENDING', 'IN_PROGRESS'),
  move(252, 'IN_PROGRESS', 'SUCCEEDED'),
]
const online = (seconds: number, isOnline: boolean) => ({ at: start + seconds * 1000, online: isOnline })

test('a wait is explained by the offline device, then by earlier executions', () => {
  const earlier = [{ jobExecutionId: 7, startedAt: at(200), finishedAt: at(239.9) }]
  assert.deepEqual(described({ history: ran, presence: [online(200, true)], earlier }), [
    'offline 0-200',
    'behind 200-240 #7',
    'running 240-252',
  ])
})

test('a device that connected and disconnected explains each offline time', () => {
  const presence = [online(60, false), online(120, true)]
  assert.deepEqual(described({ history: ran, presence }), [
    'ready 0-60',
    'offline 60-120',
    'ready 120-240',
    'running 240-252',
  ])
})

test('without events the device has its current state, if that began earlier', () => {
  const waits = { history: [move(0, null, 'PENDING')] }
  assert.deepEqual(described({ ...waits, device: { online: false, since: at(-50) } }), ['offline 0-'])
  assert.deepEqual(described({ ...waits, device: { online: false, since: null } }), ['offline 0-'])
  assert.deepEqual(described({ ...waits, device: undefined }), ['ready 0-'])
  assert.deepEqual(described({ history: ran }), ['ready 0-240', 'running 240-252'])
})

test('attempts, the backoff between them, a cancel, and a device that was offline while it worked', () => {
  const history = [
    move(0, null, 'PENDING'),
    move(1, 'PENDING', 'IN_PROGRESS'),
    move(5, 'IN_PROGRESS', 'IN_PROGRESS'),
    move(61, 'IN_PROGRESS', 'PENDING', 1),
    move(70, 'PENDING', 'IN_PROGRESS', 2),
    move(80, 'IN_PROGRESS', 'CANCELING', 2),
    move(82, 'CANCELING', 'CANCELED', 2),
  ]
  assert.deepEqual(described({ history, presence: [online(10, false), online(40, true)] }), [
    'ready 0-1',
    'running 1-61 away 30',
    'backoff 61-70',
    'running 70-80',
    'canceling 80-82',
  ])
  const waitingToRetry = { history: history.slice(0, 4), execution: { notBefore: at(700) } }
  assert.deepEqual(described(waitingToRetry).at(-1), 'backoff 61-')
})

test('a device that was faster than the clock of the trigger has no wait', () => {
  const history = [
    move(0.007, null, 'PENDING'),
    move(0, 'PENDING', 'IN_PROGRESS'),
    move(20, 'IN_PROGRESS', 'FAILED'),
  ]
  assert.deepEqual(described({ history }), ['ready 0.007-0.007', 'running 0.007-20'])
})

test('a device that postponed twice, once without having started, explains its waits', () => {
  const notNow = (seconds: number, from: Transition['from']) => ({
    ...move(seconds, from, 'PENDING'),
    event: 'not-now',
  })
  const history = [
    move(0, null, 'PENDING'),
    notNow(1, 'PENDING'),
    move(61, 'PENDING', 'IN_PROGRESS'),
    notNow(62, 'IN_PROGRESS'),
  ]
  const waiting = { history, execution: { notBefore: at(700) } }
  assert.deepEqual(described(waiting), ['ready 0-1', 'not-now 1-61', 'running 61-62', 'not-now 62-'])
})
