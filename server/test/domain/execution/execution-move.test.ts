// What a move does to an execution besides its clocks, which execution.test.ts has: a table of moves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { executionEvents, nextState, type Policy } from '../../../src/domain/execution/execution.ts'
import {
  applyMove,
  type LiveExecution,
  type Move,
  offerAgain,
  toDeviceExecution,
  writeHeldProgress,
} from '../../../src/domain/execution/execution-move.ts'

const launchedAt = 1000
const moment = { at: 5000, clock: steadyInstant(70_000), chance: 0, cancelDeadlineMs: 30_000 }
const retryAt = steadyInstant(80_000)
const noPolicy: Policy = { expireAfterSeconds: null, timeoutSeconds: null, retry: null }
const retrying: Policy = { ...noPolicy, retry: { max: 1, backoffSeconds: 10, on: ['FAILED', 'TIMED_OUT'] } }

const pending: LiveExecution = {
  jobExecutionId: 7,
  runId: 3,
  ownerNo: 1,
  deviceNo: 40,
  deviceId: 'lamp',
  versionNumber: 1,
  traceParent: null,
  priority: 5,
  jobVersion: 9,
  launchedAt,
  updatedAt: null,
  notifiedAt: null,
  deliveredAt: null,
  statusDetails: null,
  newResult: null,
  seenReports: null,
  cancelVersion: null,
  outputBytes: 0,
  outputCut: false,
  outputPieces: 0,
  progressAt: null,
  progressHeld: false,
  progressBytes: 0,
  life: {
    execState: 'PENDING',
    attempt: 1,
    startedAt: null,
    finishedAt: null,
    notBefore: null,
    dueAt: null,
    deadlineAt: null,
    heldMs: 0,
    waitsFrom: null,
  },
}
const running: LiveExecution = {
  ...pending,
  versionNumber: 4,
  updatedAt: 2000,
  notifiedAt: 1500,
  deliveredAt: 1600,
  statusDetails: '{"step":"1"}',
  seenReports: 'before',
  outputBytes: 12,
  outputCut: true,
  life: { ...pending.life, execState: 'IN_PROGRESS', startedAt: 1700 },
}
const canceling: LiveExecution = {
  ...running,
  cancelVersion: 4,
  life: { ...running.life, execState: 'CANCELING', dueAt: steadyInstant(90_000) },
}

type Case = {
  title: string
  before: LiveExecution
  policy?: Policy
  move: Omit<Move, 'moment'>
  /** Beside the version and the instant, which each move changes. */
  fields: Partial<Omit<LiveExecution, 'life'>>
  life: Partial<LiveExecution['life']>
  type: string
  /** Null: it leaves no entry in the history. */
  noted: string | null
  details?: string
  reason?: string
}

const cases: Case[] = [
  {
    title: 'a start by the device: it has reached the device',
    before: pending,
    move: { event: 'start', actor: 'device', fields: { statusDetails: { step: '1' } } },
    fields: { notifiedAt: 5000, deliveredAt: 5000, statusDetails: '{"step":"1"}' },
    life: { execState: 'IN_PROGRESS', startedAt: 5000 },
    type: 'execution.in_progress',
    noted: 'start',
    details: '{"step":"1"}',
  },
  {
    title: 'progress: an event, but no entry in the history; notices keep their instants',
    before: running,
    move: {
      event: 'progress',
      actor: 'device',
      fields: { statusDetails: { step: '2' }, mark: 'now' },
    },
    fields: { statusDetails: '{"step":"2"}', seenReports: 'before now' },
    life: {},
    type: 'execution.progress',
    noted: null,
    details: '{"step":"2"}',
  },
  {
    title: 'progress without details or token: the details stay',
    before: running,
    move: { event: 'progress', actor: 'device' },
    fields: {},
    life: {},
    type: 'execution.progress',
    noted: null,
  },
  {
    title: 'a success with a result',
    before: running,
    move: { event: 'succeed', actor: 'device', fields: { result: '[1]' } },
    fields: { newResult: '[1]' },
    life: { execState: 'SUCCEEDED', finishedAt: 5000 },
    type: 'execution.succeeded',
    noted: 'succeed',
  },
  {
    title: 'a failure that is the last',
    before: running,
    move: { event: 'fail', actor: 'device' },
    fields: {},
    life: { execState: 'FAILED', finishedAt: 5000 },
    type: 'execution.failed',
    noted: 'fail',
  },
  {
    title: 'a failure that is retried: the next attempt has no notices and no output, and keeps its details',
    before: running,
    policy: retrying,
    move: { event: 'fail', actor: 'device', fields: { result: '{}', mark: 'now' } },
    fields: {
      notifiedAt: null,
      deliveredAt: null,
      outputBytes: 0,
      outputCut: false,
      newResult: '{}',
      seenReports: 'before .now',
    },
    life: {
      execState: 'PENDING',
      attempt: 2,
      startedAt: null,
      notBefore: retryAt,
      dueAt: retryAt,
      waitsFrom: retryAt,
    },
    type: 'execution.pending',
    noted: 'retry',
  },
  {
    title: 'a time-out that is retried: what the device sent last stays',
    before: running,
    policy: retrying,
    move: { event: 'time-out', actor: 'clock' },
    fields: { notifiedAt: null, deliveredAt: null, outputBytes: 0, outputCut: false },
    life: {
      execState: 'PENDING',
      attempt: 2,
      startedAt: null,
      notBefore: retryAt,
      dueAt: retryAt,
      waitsFrom: retryAt,
    },
    type: 'execution.pending',
    noted: 'retry',
  },
  {
    title: 'an expiry: nothing has reached the device',
    before: pending,
    move: { event: 'expire', actor: 'clock' },
    fields: {},
    life: { execState: 'EXPIRED', finishedAt: 5000 },
    type: 'execution.expired',
    noted: 'expire',
  },
  {
    title: 'a cancel of what waits',
    before: pending,
    move: { event: 'cancel', actor: 'key k1' },
    fields: {},
    life: { execState: 'CANCELED', finishedAt: 5000 },
    type: 'execution.canceled',
    noted: 'cancel',
  },
  {
    title: 'a cancel of what runs: its version is noted, so that a report that has not seen it still counts',
    before: running,
    move: { event: 'cancel', actor: 'key k1' },
    fields: { cancelVersion: 5 },
    life: { execState: 'CANCELING', dueAt: steadyInstant(100_000) },
    type: 'execution.canceling',
    noted: 'cancel',
  },
  {
    title: 'progress while it is canceled: the version of the cancel stays what it was',
    before: canceling,
    move: { event: 'progress', actor: 'device' },
    fields: {},
    life: {},
    type: 'execution.progress',
    noted: null,
  },
  {
    title: 'a cancel that the device confirms',
    before: canceling,
    move: { event: 'confirm-cancel', actor: 'device' },
    fields: {},
    life: { execState: 'CANCELED', finishedAt: 5000, dueAt: null },
    type: 'execution.canceled',
    noted: 'confirm-cancel',
  },
  {
    title: 'a failure while it is canceled is not retried',
    before: canceling,
    policy: retrying,
    move: { event: 'fail', actor: 'device' },
    fields: {},
    life: { execState: 'FAILED', finishedAt: 5000, dueAt: null },
    type: 'execution.failed',
    noted: 'fail',
  },
]

for (const { title, before, policy = noPolicy, move, fields, life, type, noted, ...more } of cases) {
  test(title, () => {
    const { details = null, reason = null } = more
    const effects = applyMove(before, policy, { ...move, moment })
    const versionNumber = before.versionNumber + 1
    const [from, to] = [before.life.execState, life.execState ?? before.life.execState]
    const { jobExecutionId, runId, ownerNo, deviceNo, deviceId } = before
    const step = { at: 5000, from, actor: move.actor, attempt: 1, versionNumber, jobExecutionId }
    assert.deepEqual(effects, {
      execution: {
        ...before,
        versionNumber,
        updatedAt: 5000,
        ...(noted === null && { progressAt: moment.clock, progressBytes: details?.length ?? 0 }),
        ...fields,
        life: { ...before.life, ...life },
      },
      transition: noted === null ? undefined : { ...step, to, event: noted, reason },
      changes: [{ ...step, type, cause: noted ?? 'progress', ownerNo, runId, deviceNo, details }],
      moved: { ownerNo, deviceId, jobExecutionId, runId, from, execState: to },
    })
  })
}

const msLater = (ms: number) => ({ ...moment, at: moment.at + ms, clock: steadyInstant(moment.clock + ms) })

function move(before: LiveExecution, event: Move['event'], ms: number, step?: string) {
  const fields = step === undefined ? {} : { statusDetails: { step } }
  const effects = applyMove(before, noPolicy, { event, actor: 'device', moment: msLater(ms), fields })
  assert.ok(effects)
  const events = effects.changes.map(({ type, versionNumber, details }) => [type, versionNumber, details])
  return { after: effects.execution, events }
}

test('of progress within a second the newest is stored, and its event is held back until the second is over', () => {
  const first = move(running, 'progress', 0, 'a')
  assert.deepEqual(first.events, [['execution.progress', 5, '{"step":"a"}']])
  const second = move(first.after, 'progress', 1, 'b')
  const third = move(second.after, 'progress', 999, 'c')
  assert.deepEqual([...second.events, ...third.events], [])
  const { statusDetails, versionNumber, updatedAt, progressHeld } = third.after
  assert.deepEqual([statusDetails, versionNumber, updatedAt, progressHeld], ['{"step":"c"}', 7, 5999, true])
  const { execution, change } = writeHeldProgress(third.after, msLater(1000))
  assert.deepEqual(
    [change.type, change.versionNumber, change.details],
    ['execution.progress', 7, '{"step":"c"}'],
  )
  assert.deepEqual([execution.progressHeld, execution.progressBytes], [false, 24])
  // A report after the second stands for those before it, also where it has no details of its own.
  const fourth = move(third.after, 'progress', 1000)
  assert.deepEqual(fourth.events, [['execution.progress', 8, '{"step":"c"}']])
})

test('progress that was held back is written before the change of the state, which is never held back', () => {
  const held = move(move(running, 'progress', 0, 'a').after, 'progress', 1, 'b').after
  for (const event of ['succeed', 'fail', 'cancel', 'time-out', 'force-cancel'] as const) {
    const { after, events } = move(held, event, 2)
    assert.deepEqual(events[0], ['execution.progress', 6, '{"step":"b"}'])
    assert.equal(events.length, 2)
    assert.equal(after.progressHeld, false)
  }
})

test('a clock that starts again behind the last progress event holds nothing back', () => {
  const { after } = move(running, 'progress', 0, 'a')
  assert.equal(move(after, 'progress', -60_000, 'b').events.length, 1)
})

test('an event that the state does not allow changes nothing', () => {
  for (const execState of execStates) {
    for (const event of executionEvents) {
      const before = { ...running, life: { ...running.life, execState } }
      const effects = applyMove(before, noPolicy, { event, actor: 'device', moment })
      const isAllowed = event !== 'retry' && nextState(execState, event) !== undefined
      assert.equal(effects !== undefined, isAllowed, `${event} in ${execState}`)
    }
  }
})

test('a state change does not modify its input', () => {
  const before = structuredClone(running)
  applyMove(running, retrying, { event: 'fail', actor: 'device', moment })
  assert.deepEqual(running, before)
})

test('when its retry delay is over it is offered again, without a new version, and may expire again', () => {
  const { clock } = moment
  const delayed = { ...pending, life: { ...pending.life, attempt: 2, notBefore: clock, dueAt: clock } }
  const policy = { ...retrying, expireAfterSeconds: 5 }
  assert.deepEqual(offerAgain(delayed, policy, moment), {
    execution: { ...delayed, life: { ...delayed.life, notBefore: null, dueAt: 75_000 } },
    moved: {
      ownerNo: 1,
      deviceId: 'lamp',
      jobExecutionId: 7,
      runId: 3,
      from: 'PENDING',
      execState: 'PENDING',
    },
  })
})

test('a device sees when it was changed last; until then, when it was launched', () => {
  assert.equal(toDeviceExecution(pending).updatedAt, launchedAt)
  assert.deepEqual(toDeviceExecution(canceling), {
    jobExecutionId: 7,
    execState: 'CANCELING',
    attempt: 1,
    versionNumber: 4,
    statusDetails: { step: '1' },
    runId: 3,
    launchedAt,
    startedAt: 1700,
    updatedAt: 2000,
    timesOutAt: 90_000,
    notified: true,
    jobVersion: 9,
    priority: 5,
  })
})
