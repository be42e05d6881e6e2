// An execution: one job on one device, as part of a run. This is its state machine, one table and one function; every
// store calls it inside the transaction that writes the move. docs/states.md has the diagram.
//
// Read next: execution-move.ts, what a move does to fields, history, events and counts; move-batch.ts, which applies
// moves for both stores; held-clocks.ts, time limits while windows and freezes hold it back; device-report.ts and
// report-execution.ts, what devices report; judge-report.ts, whether that counts; apply-clocks.ts, what timers do;
// cancel-execution.ts, how callers cancel; device-cancel.ts, how devices do; explain-execution.ts, why one has not ended.

import type { ExecState, ReportedStatus, Retry } from '@jobcast/contract'
import { type BothClocks, laterBy, type SteadyInstant, type WallInstant } from '../common/instants.ts'

export const executionEvents = [
  // reported by the device
  'start',
  'progress',
  'succeed',
  'fail',
  'reject',
  // rejected by the device for now, offered again later (not-now.ts)
  'not-now',
  'confirm-cancel',
  // the device refuses to stop it (device-cancel.ts)
  'refuse-cancel',
  // triggered by a clock
  'expire',
  'time-out',
  'miss-deadline',
  'overrun-cancel',
  // an end followed by another attempt, by the job's retry policy
  'retry',
  // requested by the owner
  'cancel',
  'force-cancel',
  'remove-device',
  // its run's rollout was stopped before it was released
  'rollout-stopped',
  // replaced by a later execution for the same device
  'superseded',
  // its device no longer matches its schedule
  'no-longer-matching',
] as const
export type ExecutionEvent = (typeof executionEvents)[number]

const end = { 'force-cancel': 'CANCELED', 'remove-device': 'CANCELED' } as const

const transitions: Record<ExecState, Partial<Record<ExecutionEvent, ExecState>>> = {
  PENDING: {
    start: 'IN_PROGRESS',
    succeed: 'SUCCEEDED',
    fail: 'FAILED',
    reject: 'REJECTED',
    'not-now': 'PENDING',
    expire: 'EXPIRED',
    'miss-deadline': 'TIMED_OUT',
    retry: 'PENDING',
    cancel: 'CANCELED',
    'rollout-stopped': 'CANCELED',
    superseded: 'CANCELED',
    'no-longer-matching': 'CANCELED',
    ...end,
  },
  IN_PROGRESS: {
    progress: 'IN_PROGRESS',
    succeed: 'SUCCEEDED',
    fail: 'FAILED',
    reject: 'REJECTED',
    'not-now': 'PENDING',
    'time-out': 'TIMED_OUT',
    'miss-deadline': 'TIMED_OUT',
    retry: 'PENDING',
    cancel: 'CANCELING',
    ...end,
  },
  // A canceled execution is not retried, so nothing leads back to PENDING.
  CANCELING: {
    progress: 'CANCELING',
    succeed: 'SUCCEEDED',
    fail: 'FAILED',
    reject: 'REJECTED',
    'confirm-cancel': 'CANCELED',
    'refuse-cancel': 'IN_PROGRESS',
    'overrun-cancel': 'CANCELED',
    ...end,
  },
  SUCCEEDED: {},
  FAILED: {},
  TIMED_OUT: {},
  REJECTED: {},
  EXPIRED: {},
  CANCELED: {},
}

const terminal: ReadonlySet<ExecState> = new Set([
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
])

/** The state that this event leads to, or undefined if the state does not allow it. */
export function nextState(state: ExecState, event: ExecutionEvent): ExecState | undefined {
  return transitions[state][event]
}

/** The terminal states that a retry of the run covers. */
export const unsuccessfulEnds: readonly ExecState[] = [...terminal].filter((state) => state !== 'SUCCEEDED')

export function isTerminal(state: ExecState): boolean {
  return terminal.has(state)
}

/** A device is working on it. */
export function isActive(state: ExecState): boolean {
  return state === 'IN_PROGRESS' || state === 'CANCELING'
}

/** The fields that decide an execution's next transition. */
export type Life = {
  execState: ExecState
  attempt: number
  startedAt: WallInstant | null
  finishedAt: WallInstant | null
  /** Waiting for a retry, or because its device said not now: not offered to the device before this instant. */
  notBefore: SteadyInstant | null
  /** When its own clock is due; its state says which clock that is. */
  dueAt: SteadyInstant | null
  /** When all attempts together must have ended, including the known time that it was held back. */
  readonly deadlineAt: SteadyInstant | null
  /** How long windows and freezes held it back in past waits; included in `deadlineAt`. */
  heldMs: number
  /** Since when it is offered again after a delay; null: it was never delayed. */
  waitsFrom: SteadyInstant | null
}

/** The job's settings for time limits and retries. */
export type Policy = {
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  retry: Retry | null
  /** Reports of devices may contain values of secrets, which are masked. */
  mayHaveSecrets?: true
}

/** `chance` is a random number from 0 to 1. */
export type Moment = BothClocks & { chance: number; cancelDeadlineMs: number }

/** The milliseconds that a device allows itself for its next step; 'discard' removes the limit. */
export type StepTimeout = number | 'discard' | undefined

/** The execution after the event, or undefined if its state does not allow it. `waitMs`: the delay for `not-now`. */
export function afterEvent(
  life: Life,
  event: ExecutionEvent,
  policy: Policy,
  moment: Moment,
  stepTimeout?: StepTimeout,
  waitMs = 0,
): Life | undefined {
  // A retry is never requested: it is what a failure or a time-out turns into.
  if (event === 'retry' || nextState(life.execState, event) === undefined) return undefined
  const retryAt = retryOf(life, event, policy, moment)
  const decided = retryAt === undefined ? event : 'retry'
  const execState = nextState(life.execState, decided)
  if (execState === undefined) return undefined
  if (decided === 'start') {
    const dueAt = timeoutAt(policy, moment.clock, stepTimeout)
    return { ...life, execState, startedAt: moment.at, notBefore: null, dueAt }
  }
  if (decided === 'progress') {
    const keepsTimer = stepTimeout === undefined || execState === 'CANCELING'
    return keepsTimer ? life : { ...life, dueAt: timeoutAt(policy, moment.clock, stepTimeout) }
  }
  if (retryAt !== undefined) {
    const attempt = life.attempt + 1
    return {
      ...{ ...life, execState, attempt, startedAt: null, notBefore: retryAt, dueAt: retryAt },
      waitsFrom: retryAt,
    }
  }
  if (decided === 'not-now') {
    const notBefore = earlier(laterBy(waitMs, moment.clock), life.deadlineAt)
    return { ...life, execState, startedAt: null, notBefore, dueAt: notBefore, waitsFrom: notBefore }
  }
  // Its time limit was replaced by that of the cancel, so it starts over.
  if (decided === 'refuse-cancel') {
    return { ...life, execState, dueAt: timeoutAt(policy, moment.clock, undefined) }
  }
  if (execState === 'CANCELING') {
    return { ...life, execState, dueAt: laterBy(moment.cancelDeadlineMs, moment.clock) }
  }
  return { ...life, execState, finishedAt: moment.at, notBefore: null, dueAt: null }
}

/** After a wait: extends the deadline by the time that the execution was held back. */
export function afterHold(life: Life, heldMs: number): Life {
  const { deadlineAt } = life
  if (heldMs === 0 || deadlineAt === null) return life
  return { ...life, heldMs: life.heldMs + heldMs, deadlineAt: laterBy(heldMs, deadlineAt) }
}

/** The delay is over: the execution is offered again, and may expire again. */
export function afterRetryDelay(life: Life, { expireAfterSeconds }: Policy, clock: SteadyInstant): Life {
  const dueAt = expireAfterSeconds === null ? null : laterBy(expireAfterSeconds * 1000, clock)
  return { ...life, notBefore: null, dueAt }
}

/** When it ends if the device does nothing; null while no clock runs. */
export function timesOutAt({ execState, dueAt, deadlineAt }: Life): SteadyInstant | null {
  if (!isActive(execState)) return null
  // A cancel has a deadline of its own, and no other clock ends it.
  if (execState === 'CANCELING') return dueAt
  return dueAt === null ? deadlineAt : earlier(dueAt, deadlineAt)
}

function earlier(one: SteadyInstant, other: SteadyInstant | null): SteadyInstant {
  return other === null || one < other ? one : other
}

/** Whether its device can see it: it is running, or PENDING and not delayed. */
export function isOffered({ execState, notBefore }: Life): boolean {
  return isActive(execState) || (execState === 'PENDING' && notBefore === null)
}

/** While it waits for a retry, no report can be about the next attempt. */
export function waitsForRetry({ notBefore }: Life, clock: SteadyInstant): boolean {
  return notBefore !== null && notBefore > clock
}

/** What happens at `dueAt`; 'retry-due' is not a move: it stays PENDING, but is offered again. */
export function dueEvent({ execState, notBefore }: Life): ExecutionEvent | 'retry-due' {
  if (execState === 'CANCELING') return 'overrun-cancel'
  if (execState === 'IN_PROGRESS') return 'time-out'
  return notBefore === null ? 'expire' : 'retry-due'
}

/** Clocks that all executions of a run share. */
export type RunClock = 'expire' | 'miss-deadline'

/** Whether that clock of its run ends the execution. */
export function isEndedBy(clock: RunClock, { execState, attempt, dueAt }: Life): boolean {
  // Later offers have their own expiry clock, and a cancel has its own deadline.
  return clock === 'expire'
    ? execState === 'PENDING' && attempt === 1 && dueAt === null
    : execState === 'PENDING' || execState === 'IN_PROGRESS'
}

const retriedAs = { fail: 'FAILED', 'time-out': 'TIMED_OUT' } as const

/** When the next attempt may start, if the event ends an attempt that the policy retries. */
function retryOf(
  { execState, attempt, deadlineAt }: Life,
  event: ExecutionEvent,
  { retry }: Policy,
  { clock, chance }: Moment,
): SteadyInstant | undefined {
  if (event !== 'fail' && event !== 'time-out') return undefined
  if (retry === null || !retry.on.includes(retriedAs[event])) return undefined
  if (attempt > retry.max || nextState(execState, 'retry') === undefined) return undefined
  const retryAt = laterBy(retryDelayMs(retry, attempt, chance), clock)
  return deadlineAt !== null && retryAt >= deadlineAt ? undefined : retryAt
}

const longestBackoffMs = 24 * 60 * 60 * 1000

/** Exponential backoff; up to half is subtracted as jitter, so that a fleet does not retry all at once. */
export function retryDelayMs({ backoffSeconds }: Retry, attempt: number, chance: number): number {
  const full = Math.min(longestBackoffMs, backoffSeconds * 1000 * 2 ** (attempt - 1))
  return Math.round(full * (1 - chance / 2))
}

/** The step's timer replaces the job's; without one, the job's time limit starts now. */
function timeoutAt(
  { timeoutSeconds }: Policy,
  clock: SteadyInstant,
  stepTimeout: StepTimeout,
): SteadyInstant | null {
  if (typeof stepTimeout === 'number') return laterBy(stepTimeout, clock)
  return timeoutSeconds === null ? null : laterBy(timeoutSeconds * 1000, clock)
}

/** The event that a device's report means in this state. `isNotNow`: the device rejects it only for a while. */
export function eventOf(status: ReportedStatus, state: ExecState, isNotNow = false): ExecutionEvent {
  switch (status) {
    case 'IN_PROGRESS':
      return state === 'PENDING' ? 'start' : 'progress'
    case 'SUCCEEDED':
      return 'succeed'
    case 'FAILED':
      return 'fail'
    case 'REJECTED':
      return isNotNow && nextState(state, 'not-now') ? 'not-now' : 'reject'
    case 'CANCELED':
      return 'confirm-cancel'
  }
}
