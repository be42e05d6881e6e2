// The timeline of an execution: spans of time, each with its reason. In addition to the states, it uses the presence of the device
// and the executions that the device had to finish first.

import type { Execution, Transition } from '@jobcast/client'
import { parseTime } from '../../parts/parse-time.ts'

export type Why = 'offline' | 'behind' | 'backoff' | 'not-now' | 'ready' | 'running' | 'canceling'

export type Span = {
  why: Why
  /** The version of the transition before it. */
  version: number
  from: number
  to: number
  /** The span continues; `to` is now. */
  isOpen: boolean
  attempt: number
  /** The execution that it is waiting for. */
  behind?: number
  /** How long the device was offline while it ran, as far as recorded. */
  awayMs?: number
}

export type Presence = { at: number; online: boolean }

export type Facts = {
  history: Transition[]
  execution: Pick<Execution, 'notBefore'>
  /** Changes since it was launched, oldest first. */
  presence: Presence[]
  /** The current presence; `since` is null if the device was never online. Undefined while loading. */
  device: { online: boolean; since: string | null } | undefined
  /** Executions launched earlier on the device. */
  earlier: Pick<Execution, 'jobExecutionId' | 'startedAt' | 'finishedAt'>[]
  now: number
}

const notNow = 'not-now'

/** Transitions that are followed by a span; a device may postpone an execution without starting it. */
export function movesOf(history: Transition[]): Transition[] {
  return history.filter(({ from, to, event }) => from !== to || event === notNow)
}

export function spansOf(facts: Facts): Span[] {
  const moves = movesOf(facts.history)
  const times = growing(moves.map(({ at }) => parseTime(at)))
  return moves.flatMap((move, index) => {
    const from = times[index] as number
    const isOpen = index === moves.length - 1
    const to = isOpen ? Math.max(from, facts.now) : (times[index + 1] as number)
    // In the history, a retry has the number of the ended attempt.
    const isRetry = move.from !== null && move.to === 'PENDING' && move.event !== notNow
    const attempt = isRetry ? move.attempt + 1 : move.attempt
    const span = { version: move.versionNumber, from, to, isOpen, attempt }
    switch (move.to) {
      case 'PENDING':
        return waitingSpans(facts, { ...span, isNotNow: move.event === notNow })
      case 'IN_PROGRESS':
        return [{ why: 'running' as const, ...span, ...awayOf(facts, from, to) }]
      case 'CANCELING':
        return [{ why: 'canceling' as const, ...span }]
      default:
        return []
    }
  })
}

/** Makes times ascending: a fast device may begin some milliseconds before the recorded time of the trigger. */
function growing(times: number[]): number[] {
  let last = 0
  return times.map((time) => {
    last = Math.max(last, time)
    return last
  })
}

type Wait = Pick<Span, 'version' | 'from' | 'to' | 'isOpen' | 'attempt'> & { isNotNow: boolean }
type Reason = { why: Why; from: number; to: number; behind?: number }

/** Shorter waits are not shown, because a device needs this long to respond. */
const worthShowingMs = 300

/** The first applicable reason is used for each instant. */
function waitingSpans(facts: Facts, wait: Wait): Span[] {
  const reasons = [...backoffOf(facts, wait), ...offlineOf(facts, wait), ...behindOf(facts, wait)]
  const cuts = [wait.from, wait.to, ...reasons.flatMap(({ from, to }) => [from, to])]
    .filter((at) => at >= wait.from && at <= wait.to)
    .sort((a, b) => a - b)
  const spans: Span[] = []
  for (let index = 1; index < cuts.length; index++) {
    const [from, to] = [cuts[index - 1] as number, cuts[index] as number]
    if (from === to) continue
    const reason = reasons.find((each) => each.from <= from && each.to >= to)
    const span = {
      why: reason?.why ?? unexplained(wait),
      from,
      to,
      isOpen: false,
      attempt: wait.attempt,
      version: wait.version,
      ...(reason?.behind !== undefined && { behind: reason.behind }),
    }
    const last = spans.at(-1)
    const isSame = last?.why === span.why && last.behind === span.behind
    if (last && (isSame || to - from < worthShowingMs)) last.to = to
    else if (last && last.to - last.from < worthShowingMs) spans.splice(-1, 1, { ...span, from: last.from })
    else spans.push(span)
  }
  const { isNotNow: _, ...whole } = wait
  if (spans.length === 0) spans.push({ why: unexplained(wait), ...whole })
  const end = spans.at(-1)
  if (end) end.isOpen = wait.isOpen
  return spans
}

/** For a started retry, the backoff part of its wait is unknown, so the wait is not attributed to the device. */
function unexplained({ attempt, isOpen, isNotNow }: Wait): Why {
  if (isOpen) return 'ready'
  return isNotNow ? 'not-now' : attempt > 1 ? 'backoff' : 'ready'
}

/** Only the current backoff is known exactly. */
function backoffOf({ execution: { notBefore } }: Facts, { from, to, isOpen, isNotNow }: Wait): Reason[] {
  return isOpen && notBefore !== null
    ? [{ why: isNotNow ? 'not-now' : 'backoff', from, to: Math.min(to, parseTime(notBefore)) }]
    : []
}

function offlineOf(facts: Facts, { from, to }: { from: number; to: number }): Reason[] {
  return absences(facts, to)
    .map((absence) => ({
      why: 'offline' as const,
      from: Math.max(from, absence.from),
      to: Math.min(to, absence.to),
    }))
    .filter((reason) => reason.to > reason.from)
}

function absences({ presence, device }: Facts, until: number): { from: number; to: number }[] {
  if (presence.length === 0) {
    if (device === undefined || device.online) return []
    return [{ from: device.since === null ? 0 : parseTime(device.since), to: until }]
  }
  const found: { from: number; to: number }[] = []
  // Before the first change, the device had the opposite state.
  let since = presence[0]?.online ? 0 : undefined
  for (const { at, online } of presence) {
    if (online && since !== undefined) found.push({ from: since, to: at })
    since = online ? undefined : (since ?? at)
  }
  if (since !== undefined) found.push({ from: since, to: Number.POSITIVE_INFINITY })
  return found
}

function behindOf({ earlier, now }: Facts, { from, to }: Wait): Reason[] {
  return earlier
    .filter(({ startedAt }) => startedAt !== null)
    .map(({ jobExecutionId, startedAt, finishedAt }) => ({
      why: 'behind' as const,
      behind: jobExecutionId,
      from: Math.max(from, parseTime(startedAt as string)),
      to: Math.min(to, finishedAt === null ? now : parseTime(finishedAt)),
    }))
    .filter((reason) => reason.to > reason.from)
}

function awayOf(facts: Facts, from: number, to: number): { awayMs?: number } {
  const awayMs = offlineOf(facts, { from, to }).reduce((sum, away) => sum + away.to - away.from, 0)
  return awayMs >= 1000 ? { awayMs } : {}
}
