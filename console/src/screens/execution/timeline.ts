// The life of an execution in spans of time, each with why it took so long. What the states alone do not tell comes from
// elsewhere: whether the device was online, and what it had to finish first.

import type { Execution, Transition } from '@jobcast/client'
import { parseTime } from '../../parts/parse-time.ts'

export type Why = 'offline' | 'behind' | 'backoff' | 'not-now' | 'ready' | 'running' | 'canceling'

export type Span = {
  why: Why
  /** The version that the move before it made. */
  version: number
  from: number
  to: number
  /** It goes on; `to` is now. */
  isOpen: boolean
  attempt: number
  /** The execution that it waits for. */
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
  /** As the device is now; `since` null if it never was online. Undefined while loading. */
  device: { online: boolean; since: string | null } | undefined
  /** What was launched on the device before. */
  earlier: Pick<Execution, 'jobExecutionId' | 'startedAt' | 'finishedAt'>[]
  now: number
}

const notNow = 'not-now'

/** Each of them is followed by a span; a device may say not now without having started. */
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
    // In the history a retry has the number of the attempt that it ends.
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

/** A trigger takes its time when it is written, so a quick device may have begun some milliseconds before. */
function growing(times: number[]): number[] {
  let last = 0
  return times.map((time) => {
    last = Math.max(last, time)
    return last
  })
}

type Wait = Pick<Span, 'version' | 'from' | 'to' | 'isOpen' | 'attempt'> & { isNotNow: boolean }
type Reason = { why: Why; from: number; to: number; behind?: number }

/** Shorter ones mean nothing: a device needs that long to answer. */
const worthShowingMs = 300

/** The first reason that holds at an instant is the one. */
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

/** Of a retry that has started since, nobody knows which part of its wait was backoff: the device is not blamed for it. */
function unexplained({ attempt, isOpen, isNotNow }: Wait): Why {
  if (isOpen) return 'ready'
  return isNotNow ? 'not-now' : attempt > 1 ? 'backoff' : 'ready'
}

/** Only the backoff that is under way is known exactly. */
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
  // Before the first change it was the opposite.
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
