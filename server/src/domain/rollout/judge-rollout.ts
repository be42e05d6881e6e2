// Decides how a rollout continues: one pure function of decisions, ended executions and time. A ticker on every node
// calls it; the store accepts the result only if the rollout has not changed since it was read.

import type { Approval, PauseRule, Rollout, RolloutState } from '@jobcast/contract'
import { laterBy, type SteadyInstant } from '../common/instants.ts'
import { unsuccessfulEnds } from '../execution/execution.ts'
import { type ApprovalStatus, nothingDecided, withVoidDecisions } from './approval.ts'
import type { BudgetRoom } from './budget.ts'
import { countIn, type EndedCounts, ends, type Gate, gateOf } from './gate.ts'
import { paceRelease } from './pace-release.ts'
import { causeOf, type PauseCause } from './pause-cause.ts'
import { countsOfMet, findMet, type MetRule, percentOf, type StopRule, wordsOfMet } from './stop-rule.ts'

type WaveTimes = { startedAt: SteadyInstant | null; passedAt: SteadyInstant | null }

/** The stored state of a rollout; its run is stored separately. */
export type RolloutStatus = {
  state: RolloutState
  /** Position of the current wave, from 0. */
  wave: number
  /** How many executions of the run are released. */
  released: number
  waves: WaveTimes[]
  /** When an execution was last released; null before the first. */
  releasedAt: SteadyInstant | null
  /** How much of the next execution the rate had allowed by then: see pace-release.ts. */
  allowance: number
  /** Since when the gate of the current wave has been met; it opens after its soak time. */
  gateSince: SteadyInstant | null
  /** When the current wave began, or was last resumed. */
  watchedSince: SteadyInstant | null
  /** What had ended when the run was last resumed: stop rules count from there. */
  baseline: { run: EndedCounts; wave: EndedCounts }
  /** Executions of the current wave that its gate ignores: accepted by resuming, or canceled before the wave began. */
  accepted: number
  pausedBecause: string | null
  pausedBy: string | null
  pausedCause: PauseCause | null
  /** Undefined until somebody changes, starts or decides about the run. */
  approval?: ApprovalStatus
  /** With a budget: all executions before this position have ended. */
  budgetFrom?: number
}

export type RolloutFacts = {
  rollout: Rollout
  /** Sizes of the waves. */
  sizes: readonly number[]
  /** Of the whole run. */
  run: EndedCounts
  /** Of the current wave. */
  wave: EndedCounts
  /** How many executions of each wave are CANCELED; undefined: none. */
  canceled?: readonly number[] | undefined
  /** Succeeded devices of the current wave whose reported attributes match `next.where`. */
  confirmed: number
  /** Executions of the run that are released and have not ended. */
  inFlight: number
  /** Undefined: the rollout has no budget. */
  budget?: BudgetRoom | undefined
  now: SteadyInstant
}

export type JudgedRollout = {
  status: RolloutStatus
  /** When to judge again if no execution ends before; null: only when one ends. */
  nextAt: SteadyInstant | null
}

const notPaused = { pausedBecause: null, pausedBy: null, pausedCause: null }

/** The first status of a run that begins now. */
export function beginRollout(waves: number, now: SteadyInstant): RolloutStatus {
  const times = Array.from({ length: waves }, (_, index) => ({
    startedAt: index === 0 ? now : null,
    passedAt: null,
  }))
  return {
    state: 'ROLLING_OUT',
    wave: 0,
    released: 0,
    waves: times,
    releasedAt: null,
    allowance: 0,
    gateSince: null,
    watchedSince: now,
    baseline: { run: {}, wave: {} },
    accepted: 0,
    ...notPaused,
  }
}

/** The first status of a run that waits for its start time or for approval. */
export function waitFor(state: 'SCHEDULED' | 'AWAITING_APPROVAL', waves: number): RolloutStatus {
  return {
    state,
    wave: 0,
    released: 0,
    waves: Array.from({ length: waves }, () => ({ startedAt: null, passedAt: null })),
    releasedAt: null,
    allowance: 0,
    gateSince: null,
    watchedSince: null,
    baseline: { run: {}, wave: {} },
    accepted: 0,
    ...notPaused,
  }
}

/** The next status, or an equal one if there is nothing to do. */
export function judgeRollout(status: RolloutStatus, facts: RolloutFacts): JudgedRollout {
  if (status.state === 'PAUSED') return { status: abortIfAsked(status, facts) ?? status, nextAt: null }
  if (status.state !== 'ROLLING_OUT') return { status, nextAt: null }
  const stopped = stopIfAsked(status, facts) ?? pauseIfClosed(status, facts)
  if (stopped) return { status: stopped, nextAt: null }
  let current = status
  // A wave that begins is released at once, and ends the rollout if it is the last.
  for (;;) {
    const inFlight = facts.inFlight + current.released - status.released
    const released = releaseMore(current, { ...facts, inFlight })
    const next = passGate(released.status, facts, current.wave !== status.wave)
    if (next.kind === 'stays') return { status: next.status, nextAt: earlier(released.nextAt, next.nextAt) }
    if (next.kind === 'ends') return { status: next.status, nextAt: null }
    current = next.status
  }
}

/** Begins the next wave now, by hand. Undefined if there is none. */
export function advanceRollout(
  status: RolloutStatus,
  { sizes, canceled, now }: Pick<RolloutFacts, 'sizes' | 'canceled' | 'now'>,
): RolloutStatus | undefined {
  if (status.wave + 1 >= sizes.length) return undefined
  return beginNextWave({ ...status, state: 'ROLLING_OUT', ...notPaused }, { canceled, now })
}

/**
 * Resumes a paused run by hand: past a gate that has opened, otherwise where it stopped. Resuming after a stop rule or a
 * closed gate accepts the failures so far; failures during any other pause still count at the gate. `excluded`: how many
 * executions of the current wave were canceled to resume without their devices.
 */
export function resumeRollout(
  status: RolloutStatus,
  facts: Pick<RolloutFacts, 'run' | 'wave' | 'sizes' | 'canceled' | 'now'>,
  excluded = 0,
): RolloutStatus {
  const { run, wave, now } = facts
  const advanced = hasPassed(status) ? advanceRollout(status, facts) : undefined
  if (advanced) return { ...advanced, baseline: { run: endsOf(run), wave: {} } }
  const baseline = { run: endsOf(run), wave: endsOf(wave) }
  const going = { state: 'ROLLING_OUT', ...notPaused } as const
  const rule = status.pausedCause?.rule
  const isSeen = rule === 'STOP_RULE' || rule === 'GATE_CLOSED'
  const accepted = isSeen ? countIn(unsuccessfulEnds, wave) : status.accepted + excluded
  return { ...status, ...going, baseline, accepted, gateSince: null, watchedSince: now }
}

/** Starts a scheduled run: at its start time, or earlier by hand. */
export function startRollout(
  status: RolloutStatus,
  { approval, sizes }: { approval: Approval; sizes: readonly number[] },
  now: SteadyInstant,
): RolloutStatus {
  const started = approval ? waitFor('AWAITING_APPROVAL', sizes.length) : beginRollout(sizes.length, now)
  return keepDecisions(status, started)
}

/** Advancing a wave by hand does not count as an approval. */
export function waitAtNextGate(status: RolloutStatus, now: SteadyInstant): RolloutStatus {
  return { ...passed(status, now), state: 'AWAITING_APPROVAL', ...notPaused }
}

/** With all approvals given, the run begins, passes its gate, or continues where a change had stopped it. */
export function approveRollout(
  status: RolloutStatus,
  { digest, ...facts }: Pick<RolloutFacts, 'sizes' | 'canceled' | 'now'> & { digest: string },
): RolloutStatus {
  const { returnsTo = null } = status.approval ?? {}
  const { sizes, now } = facts
  const approval = { ...withVoidDecisions(status.approval), digest, returnsTo: null }
  const approved = { ...status, approval }
  if (returnsTo === 'PAUSED') return { ...approved, state: returnsTo }
  if (returnsTo === 'ROLLING_OUT')
    return { ...approved, state: returnsTo, gateSince: null, watchedSince: now }
  const next = hasBegun(status) ? advanceRollout(approved, facts) : undefined
  return next ?? keepDecisions(approved, beginRollout(sizes.length, now))
}

/** The run has changed: its approvals no longer count, and a run that was approved waits for approval again. */
export function askAgain(status: RolloutStatus, { approval: asked }: { approval: Approval }): RolloutStatus {
  const { state, approval = nothingDecided } = status
  const changed = { ...status, approval: withVoidDecisions(approval) }
  const wasApproved = approval.digest !== null || (asked !== false && hasBegun(status))
  if (!wasApproved || (state !== 'ROLLING_OUT' && state !== 'PAUSED')) return changed
  return {
    ...changed,
    state: 'AWAITING_APPROVAL',
    approval: { ...changed.approval, digest: null, returnsTo: state },
  }
}

/** The gate of the current wave has opened. */
export function hasPassed({ waves, wave }: RolloutStatus): boolean {
  return (waves[wave]?.passedAt ?? null) !== null
}

/** At least one wave has begun. */
export function hasBegun({ waves }: RolloutStatus): boolean {
  return waves.some(({ startedAt }) => startedAt !== null)
}

/** Copies to a status of a run that has not begun what was decided about it: approvals, and which devices to exclude. */
export function keepDecisions({ approval, accepted }: RolloutStatus, status: RolloutStatus): RolloutStatus {
  return { ...status, accepted, ...(approval && { approval }) }
}

export function pauseRollout(
  status: RolloutStatus,
  { rule, because, by }: { rule: PauseRule; because: string; by: string },
): RolloutStatus {
  const pausedCause = causeOf(status, rule)
  return { ...status, state: 'PAUSED', pausedBecause: because, pausedBy: by, pausedCause }
}

/** If several rules are met, ABORT wins over PAUSE, then the first in the list. */
function stopIfAsked(status: RolloutStatus, facts: RolloutFacts): RolloutStatus | undefined {
  return abortIfAsked(status, facts) ?? stopBy(status, facts, () => true)
}

/** Also while paused: executions that were released continue, and may fail. */
function abortIfAsked(status: RolloutStatus, facts: RolloutFacts): RolloutStatus | undefined {
  return stopBy(status, facts, ({ action }) => action === 'ABORT')
}

function stopBy(
  status: RolloutStatus,
  facts: RolloutFacts,
  isMeant: (rule: StopRule) => boolean,
): RolloutStatus | undefined {
  const met = findMet(facts.rollout.stop ?? [], (rule) => {
    if (!isMeant(rule)) return undefined
    return countedOf(rule, status, facts)
  })
  if (met === undefined) return undefined
  const { of = 'RUN' } = met.rule
  return stopBecauseOf(status, met, of, of === 'RUN' ? 'the run' : `wave ${status.wave + 1}`)
}

/** The counts of the run, or of its current wave. */
export function countedOf(
  { of }: StopRule,
  { baseline }: Pick<RolloutStatus, 'baseline'>,
  { run, wave }: Pick<RolloutFacts, 'run' | 'wave'>,
): { counts: EndedCounts; baseline: EndedCounts } {
  return of === 'WAVE' ? { counts: wave, baseline: baseline.wave } : { counts: run, baseline: baseline.run }
}

/** `where`: what it has counted, in words. */
export function stopBecauseOf(
  status: RolloutStatus,
  met: MetRule,
  of: PauseCause['of'],
  where: string,
): RolloutStatus {
  return {
    ...status,
    state: met.rule.action === 'ABORT' ? 'ABORTED' : 'PAUSED',
    pausedBecause: wordsOfMet(met, where),
    pausedBy: 'stop rule',
    pausedCause: { ...causeOf(status, 'STOP_RULE'), of, ...countsOfMet(met) },
  }
}

/** Pauses the run if its gate can no longer open. The last wave has no gate. */
function pauseIfClosed(status: RolloutStatus, facts: RolloutFacts): RolloutStatus | undefined {
  if (status.wave >= facts.sizes.length - 1) return undefined
  const { percent, size, needed, possible, unsuccessful } = currentGate(status, facts)
  if (possible >= needed) return undefined
  const devices = status.accepted === 0 ? `${size} devices` : `the other ${size} devices`
  const wave = `wave ${status.wave + 1}`
  const because = `${unsuccessful} of ${devices} of ${wave} did not succeed; the gate needs ${percent} %`
  const paused = pauseRollout(status, { rule: 'GATE_CLOSED', because, by: 'gate' })
  const ended = countIn(ends, facts.wave)
  const pausedCause: PauseCause = {
    ...causeOf(status, 'GATE_CLOSED'),
    ...{ of: 'WAVE', on: [...unsuccessfulEnds], count: unsuccessful, ended },
    ...{ percent: percentOf(unsuccessful, ended), needed, possible },
  }
  return { ...paused, pausedCause }
}

/** Releases as much of the current wave as the rate, the budget and the executions in flight allow. */
function releaseMore(
  status: RolloutStatus,
  { rollout, sizes, run, inFlight, budget, now }: RolloutFacts,
): { status: RolloutStatus; nextAt: SteadyInstant | null } {
  const end = endOfWave(sizes, status.wave)
  const room = Math.max(0, (rollout.maxUnderWay ?? Number.POSITIVE_INFINITY) - inFlight)
  const upTo = Math.min(end, status.released + room, budget?.upTo ?? Number.POSITIVE_INFINITY)
  // Later devices have not been checked: judge again now.
  const soon = budget?.isCut && upTo === budget.upTo ? now : null
  const seen = budget && { budgetFrom: budget.from }
  // Without room, an execution has to end first.
  if (status.released >= upTo) return { status, nextAt: soon }
  const perMinute = rateOf(rollout, run)
  if (perMinute === undefined) {
    return { status: { ...status, ...seen, released: upTo, releasedAt: now, allowance: 0 }, nextAt: soon }
  }
  const { count, allowance, nextAt } = paceRelease(status, perMinute, now)
  if (count === 0) return { status, nextAt }
  const released = status.released + count
  if (released < upTo) return { status: { ...status, ...seen, released, releasedAt: now, allowance }, nextAt }
  // Unused allowance is not saved for the next wave, nor while there is no room.
  return { status: { ...status, ...seen, released: upTo, releasedAt: now, allowance: 0 }, nextAt: soon }
}

function rateOf({ ratePerMinute, growth }: Rollout, run: EndedCounts): number | undefined {
  if (ratePerMinute === undefined || growth === undefined) return ratePerMinute
  const steps = Math.floor((run.SUCCEEDED ?? 0) / growth.afterSucceeded)
  return Math.min(ratePerMinute * growth.factor ** steps, 60_000_000)
}

type Passed =
  | { kind: 'stays'; status: RolloutStatus; nextAt: SteadyInstant | null }
  | { kind: 'passes' | 'ends'; status: RolloutStatus }

/** `isFresh`: the wave has just begun, so `facts` has no counts of it yet. */
function passGate(status: RolloutStatus, facts: RolloutFacts, isFresh: boolean): Passed {
  const { sizes, rollout, now } = facts
  if (status.released < endOfWave(sizes, status.wave))
    return waitAtGate({ ...status, gateSince: null }, facts)
  if (status.wave === sizes.length - 1)
    return { kind: 'ends', status: passed({ ...status, state: 'RELEASED' }, now) }
  if (isFresh || !isOpen(currentGate(status, facts))) return waitAtGate({ ...status, gateSince: null }, facts)
  const gateSince = status.gateSince ?? now
  const opensAt = laterBy((rollout.next?.soakSeconds ?? 0) * 1000, gateSince)
  if (now < opensAt) return { kind: 'stays', status: { ...status, gateSince }, nextAt: opensAt }
  return openGate({ ...status, gateSince }, facts)
}

function openGate(status: RolloutStatus, facts: RolloutFacts): Passed {
  const { rollout, now } = facts
  switch (rollout.next?.action) {
    case 'PAUSE': {
      const because = `wave ${status.wave + 1} is done, and the rollout pauses after each wave`
      const paused = pauseRollout(passed(status, now), { rule: 'GATE_ACTION', because, by: 'gate' })
      return { kind: 'ends', status: paused }
    }
    case 'APPROVAL':
      return { kind: 'ends', status: { ...passed(status, now), state: 'AWAITING_APPROVAL' } }
    default:
      return { kind: 'passes', status: beginNextWave(status, facts) }
  }
}

function waitAtGate(status: RolloutStatus, { rollout, now }: RolloutFacts): Passed {
  const after = rollout.next?.giveUpAfterSeconds
  if (after === undefined || status.watchedSince === null) return { kind: 'stays', status, nextAt: null }
  const givesUpAt = laterBy(after * 1000, status.watchedSince)
  if (now < givesUpAt) return { kind: 'stays', status, nextAt: givesUpAt }
  const because = `the gate of wave ${status.wave + 1} has not opened for ${after} seconds`
  return { kind: 'ends', status: pauseRollout(status, { rule: 'GATE_TIMEOUT', because, by: 'gate' }) }
}

function currentGate(
  { wave: index, accepted }: RolloutStatus,
  { rollout, sizes, wave, confirmed }: RolloutFacts,
): Gate {
  return gateOf(rollout, { size: sizes[index] ?? 0, wave, confirmed, accepted })
}

function isOpen({ succeeded, needed }: Gate): boolean {
  return succeeded >= needed
}

function beginNextWave(
  status: RolloutStatus,
  { canceled, now }: Pick<RolloutFacts, 'canceled' | 'now'>,
): RolloutStatus {
  const { waves, baseline } = passed(status, now)
  const wave = status.wave + 1
  return {
    ...status,
    wave,
    waves: waves.map((times, index) => (index === wave ? { ...times, startedAt: now } : times)),
    gateSince: null,
    watchedSince: now,
    baseline: { ...baseline, wave: {} },
    // Devices that were excluded while the wave was held back.
    accepted: canceled?.[wave] ?? 0,
  }
}

function passed(status: RolloutStatus, now: SteadyInstant): RolloutStatus {
  const waves = status.waves.map((times, index) =>
    index === status.wave ? { ...times, passedAt: times.passedAt ?? now } : times,
  )
  return { ...status, waves }
}

function endOfWave(sizes: readonly number[], wave: number): number {
  return sizes.slice(0, wave + 1).reduce((total, size) => total + size, 0)
}

function endsOf(counts: EndedCounts): EndedCounts {
  return Object.fromEntries(ends.map((state) => [state, counts[state] ?? 0]))
}

function earlier(one: SteadyInstant | null, other: SteadyInstant | null): SteadyInstant | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}
