import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import {
  afterEvent,
  afterRetryDelay,
  dueEvent,
  type ExecutionEvent,
  executionEvents,
  isEndedBy,
  isOffered,
  isTerminal,
  type Life,
  nextState,
  retryDelayMs,
  timesOutAt,
} from '../../../src/domain/execution/execution.ts'

const terminal: ExecState[] = ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED']

test('six states are terminal, the other three are not', () => {
  assert.deepEqual(execStates.filter(isTerminal), terminal)
})

test('states move as the design says', () => {
  const movesOf = (state: ExecState) =>
    Object.fromEntries(
      executionEvents
        .map((event) => [event, nextState(state, event)] as const)
        .filter(([, next]) => next !== undefined),
    )
  const reported = { succeed: 'SUCCEEDED', fail: 'FAILED', reject: 'REJECTED' }
  const taken = { 'force-cancel': 'CANCELED', 'remove-device': 'CANCELED' }
  assert.deepEqual(movesOf('PENDING'), {
    start: 'IN_PROGRESS',
    ...reported,
    'not-now': 'PENDING',
    expire: 'EXPIRED',
    'miss-deadline': 'TIMED_OUT',
    retry: 'PENDING',
    cancel: 'CANCELED',
    'rollout-stopped': 'CANCELED',
    superseded: 'CANCELED',
    'no-longer-matching': 'CANCELED',
    ...taken,
  })
  assert.deepEqual(movesOf('IN_PROGRESS'), {
    progress: 'IN_PROGRESS',
    ...reported,
    'not-now': 'PENDING',
    'time-out': 'TIMED_OUT',
    'miss-deadline': 'TIMED_OUT',
    retry: 'PENDING',
    cancel: 'CANCELING',
    ...taken,
  })
  assert.deepEqual(movesOf('CANCELING'), {
    progress: 'CANCELING',
    ...reported,
    'confirm-cancel': 'CANCELED',
    'refuse-cancel': 'IN_PROGRESS',
    'overrun-cancel': 'CANCELED',
    ...taken,
  })
  for (const state of terminal) assert.deepEqual(movesOf(state), {})
})

test('no sequence of events leads out of a terminal state, and only a retry and not now lead back to PENDING', () => {
  const event = fc.constantFrom<ExecutionEvent>(...executionEvents)
  fc.assert(
    fc.property(fc.constantFrom(...execStates), fc.array(event, { maxLength: 12 }), (start, sequence) => {
      let state = start
      for (const event of sequence) {
        const next = nextState(state, event)
        if (next === undefined) continue
        assert.ok(!isTerminal(state), `${state} is terminal, yet ${event} leads to ${next}`)
        assert.ok(
          next !== 'PENDING' || event === 'retry' || event === 'not-now',
          `${event} leads back to PENDING`,
        )
        state = next
      }
    }),
    randomInputs({ test: 1000, chaos: 50000 }),
  )
})

test('delays double with each attempt, up to a day, and jitter subtracts up to half', () => {
  const day = 86_400_000
  const retry = { max: 100, backoffSeconds: 10, on: ['FAILED' as const] }
  assert.deepEqual(
    [1, 2, 3, 14, 15, 100].map((attempt) => retryDelayMs(retry, attempt, 0)),
    [10_000, 20_000, 40_000, 81_920_000, day, day],
  )
  assert.deepEqual(
    [0, 0.25, 0.5, 1].map((chance) => retryDelayMs(retry, 1, chance)),
    [10_000, 8750, 7500, 5000],
  )
  assert.equal(retryDelayMs({ ...retry, backoffSeconds: 0 }, 7, 0.5), 0)
  assert.ok(Number.isInteger(retryDelayMs(retry, 1, 0.123456)))
})

const life: Life = {
  execState: 'PENDING',
  attempt: 1,
  startedAt: null,
  finishedAt: null,
  notBefore: null,
  dueAt: null,
  deadlineAt: null,
  heldMs: 0,
  waitsFrom: null,
}

test('a timeout of an execution that no device runs is not an attempt, and a retry cannot be requested', () => {
  const retry = { max: 5, backoffSeconds: 1, on: ['FAILED' as const, 'TIMED_OUT' as const] }
  const policy = { expireAfterSeconds: null, timeoutSeconds: null, retry }
  const moment = { at: 1, clock: steadyInstant(1), chance: 0, cancelDeadlineMs: 1 }
  assert.equal(afterEvent(life, 'time-out', policy, moment), undefined)
  for (const execState of execStates) {
    assert.equal(afterEvent({ ...life, execState }, 'retry', policy, moment), undefined)
  }
})

test('what is not now waits for as long as its device asks, at most until its deadline, and uses no attempt', () => {
  const policy = { expireAfterSeconds: 5, timeoutSeconds: 9, retry: null }
  const moment = { at: 1, clock: steadyInstant(1000), chance: 0, cancelDeadlineMs: 1 }
  const running: Life = { ...life, execState: 'IN_PROGRESS', startedAt: 1, dueAt: steadyInstant(7) }
  const waits = (deadlineAt: number | null) => {
    const given = { ...running, deadlineAt: deadlineAt === null ? null : steadyInstant(deadlineAt) }
    return afterEvent(given, 'not-now', policy, moment, undefined, 60_000)
  }
  const until = steadyInstant(61_000)
  assert.deepEqual(waits(null), { ...life, notBefore: until, dueAt: until, waitsFrom: until })
  assert.equal(waits(62_000)?.notBefore, 61_000)
  assert.equal(waits(60_000)?.notBefore, 60_000)
  const waiting = waits(null) as Life
  assert.deepEqual(
    [isOffered(waiting), isEndedBy('expire', waiting), dueEvent(waiting)],
    [false, false, 'retry-due'],
  )
  const offered = afterRetryDelay(waiting, policy, until)
  assert.deepEqual(offered, { ...life, dueAt: steadyInstant(66_000), waitsFrom: until })
  assert.deepEqual(
    [isOffered(offered), isEndedBy('expire', offered), dueEvent(offered)],
    [true, false, 'expire'],
  )
  assert.equal(afterEvent({ ...running, execState: 'CANCELING' }, 'not-now', policy, moment), undefined)
})

test('the first expired timer ends a running execution; a cancel only ends by its own timer', () => {
  const at = (clock: number | null) => (clock === null ? null : steadyInstant(clock))
  const ends = (execState: ExecState, dueAt: number | null, deadlineAt: number | null) =>
    timesOutAt({ ...life, execState, dueAt: at(dueAt), deadlineAt: at(deadlineAt) })
  assert.deepEqual(
    [
      ends('IN_PROGRESS', null, null),
      ends('IN_PROGRESS', 5, null),
      ends('IN_PROGRESS', null, 7),
      ends('IN_PROGRESS', 5, 7),
      ends('IN_PROGRESS', 9, 7),
      ends('CANCELING', 9, 7),
      ends('PENDING', 5, 7),
    ],
    [null, 5, 7, 5, 7, 9, null],
  )
})
