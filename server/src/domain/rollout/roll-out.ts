// Continues rollouts: writes what domain/rollout/judge-rollout.ts decides, then notifies the devices that may start.

import { isDeepStrictEqual } from 'node:util'
import { execStates } from '@jobcast/contract/words'
import { actorOf } from '../access/caller.ts'
import { keyIdAt, service } from '../access/principal.ts'
import type { Originated } from '../audit/ports/entries.ts'
import { laterBy, type SteadyInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import { isTerminal, type Moment } from '../execution/execution.ts'
import { type NotifyDeps, notifyTaken } from '../execution/notify-moved.ts'
import type { RunKey } from '../trigger/ports/runs.ts'
import { readDigest } from './approval-digest.ts'
import { type BudgetRoom, lookedAhead, roomInBudget } from './budget.ts'
import { countIn, type EndedCounts } from './gate.ts'
import {
  askAgain,
  type JudgedRollout,
  judgeRollout,
  type RolloutFacts,
  type RolloutStatus,
  startRollout,
} from './judge-rollout.ts'
import type { RolloutChange, RolloutFactsFound, RunPart, StateCounts } from './ports/rollouts.ts'
import type { WaveCounts } from './ports/wave-counts.ts'
import type { RolloutEvent, StoredRollout } from './rollout.ts'
import { isFinal, waveParts } from './rollout.ts'

export type RollOutDeps = NotifyDeps & {
  store: Pick<
    Store,
    | 'getRun'
    | 'getWindow'
    | 'findGroups'
    | 'getRollout'
    | 'changeRollout'
    | 'listEndedPart'
    | 'listReleased'
    | 'moveRun'
    | 'countRunParts'
    | 'readBudget'
  >
  waveCounts: WaveCounts
  /** Counts the succeeded executions whose devices report what the selector asks for. */
  countConfirmed: (part: RunPart & { where: string }) => Promise<number>
  moment: () => Moment
  stopping: AbortSignal
}

const unfinishedStates = execStates.filter((state) => !isTerminal(state))
/** How many released devices are read at once. */
const devicesPerPart = 5000
/** How often a gate polls reported attributes: their changes wake nothing. */
const gateEveryMs = 5000

/**
 * Judges one rollout now. A concurrent change wins, and the next call judges its result. Returns when to judge again even
 * if no execution ends, if the gate depends on reported attributes.
 */
export async function rollOut(deps: RollOutDeps, run: RunKey): Promise<SteadyInstant | undefined> {
  const found = await deps.store.getRollout(run)
  if (found === undefined) return undefined
  const { rollout, run: counts } = found
  const moment = deps.moment()
  if (isFinal(rollout.status)) await endRollout(deps, rollout, moment)
  else if (countIn(unfinishedStates, counts) === 0) await closeFinished(deps, rollout, moment)
  else if (rollout.status.state === 'SCHEDULED' && (rollout.startAt ?? 0) <= moment.at) {
    const status = startRollout(rollout.status, rollout.plan, moment.clock)
    const nextAt = status.state === 'ROLLING_OUT' ? moment.clock : null
    if (await applyStatus(deps, rollout, { status, nextAt }, moment)) return rollOut(deps, run)
  } else if (await isChanged(deps, rollout)) {
    const status = askAgain(rollout.status, rollout.plan)
    await applyStatus(deps, rollout, { status, nextAt: null }, moment)
  } else if (isJudged(rollout)) {
    const judged = judgeRollout(rollout.status, await readFacts(deps, found, moment.clock))
    const status =
      judged.status === rollout.status ? rollout.status : await nameCauses(deps, rollout, judged.status)
    await applyStatus(deps, rollout, { ...judged, status }, moment)
    const isWatched = judged.status.state === 'ROLLING_OUT' && rollout.plan.rollout.next?.where !== undefined
    if (isWatched) return laterBy(gateEveryMs, moment.clock)
  }
  return undefined
}

/** The run's window, or a group that its gate refers to, has changed since the approval. */
async function isChanged(deps: RollOutDeps, rollout: StoredRollout): Promise<boolean> {
  const { state, approval } = rollout.status
  if (state !== 'ROLLING_OUT' || !approval?.digest) return false
  return (await readDigest(deps, rollout)) !== approval.digest
}

/** A stop rule may abort a paused run, too. */
function isJudged({ status: { state }, plan }: StoredRollout): boolean {
  if (state !== 'PAUSED') return state === 'ROLLING_OUT'
  return plan.rollout.stop?.some(({ action }) => action === 'ABORT') ?? false
}

async function readFacts(
  deps: RollOutDeps,
  { rollout, run }: RolloutFactsFound,
  now: SteadyInstant,
): Promise<RolloutFacts> {
  const { plan, status } = rollout
  const needsWave = status.wave < plan.sizes.length - 1 || plan.rollout.stop?.some(({ of }) => of === 'WAVE')
  const part = currentPart(rollout)
  const waves = needsWave ? await deps.waveCounts.now(rollout, run) : []
  const wave: EndedCounts = waves[status.wave] ?? {}
  const where = plan.rollout.next?.where
  const confirmed =
    where === undefined || (wave.SUCCEEDED ?? 0) === 0 ? 0 : await deps.countConfirmed({ ...part, where })
  const inFlight = plan.rollout.maxUnderWay === undefined ? 0 : await countUnfinished(deps, rollout, run)
  const budget = await readBudget(deps, rollout)
  const canceled = waves.map(({ CANCELED }) => CANCELED)
  return { rollout: plan.rollout, sizes: plan.sizes, run, wave, canceled, confirmed, inFlight, budget, now }
}

async function readBudget(
  { store }: RollOutDeps,
  { ownerNo, firstExecutionId, total, plan, status }: StoredRollout,
): Promise<BudgetRoom | undefined> {
  const { budget } = plan.rollout
  if (budget === undefined || status.state !== 'ROLLING_OUT') return undefined
  const { released, budgetFrom = 0 } = status
  const found = await store.readBudget({
    ...{ ownerNo, by: budget.by, first: firstExecutionId, from: budgetFrom, released },
    to: Math.min(total, released + lookedAhead),
  })
  return roomInBudget(budget.max, found, { released, total })
}

/** Released and not ended. Executions that are held back are all PENDING, unless some were canceled: then they are counted. */
async function countUnfinished(
  { store }: RollOutDeps,
  { ownerNo, runId, total, status: { released } }: StoredRollout,
  run: StateCounts,
): Promise<number> {
  if (run.CANCELED === 0) return countIn(unfinishedStates, run) - (total - released)
  const { parts } = await store.countRunParts({ ownerNo, runId, parts: [{ from: 0, to: released }] })
  return countIn(unfinishedStates, parts[0] ?? {})
}

/** How many of the executions that a stop rule or a gate counted are listed. */
const namedCauses = 20

async function nameCauses(
  { store }: RollOutDeps,
  rollout: StoredRollout,
  status: RolloutStatus,
): Promise<RolloutStatus> {
  const { pausedCause } = status
  if (pausedCause === null || pausedCause.of === null) return status
  const { ownerNo, firstExecutionId } = rollout
  const { from } = pausedCause.of === 'WAVE' ? currentPart(rollout) : { from: 0 }
  const part = { ownerNo, first: firstExecutionId + from, last: firstExecutionId + status.released - 1 }
  // The executions that ended last are those counted: what ended before the run was resumed does not count.
  const counted = pausedCause.of === 'SCHEDULE' ? namedCauses : (pausedCause.count ?? 0)
  const wanted = { ...part, execStates: pausedCause.on, limit: Math.min(namedCauses, counted) }
  return { ...status, pausedCause: { ...pausedCause, executions: await store.listEndedPart(wanted) } }
}

export function currentPart({ ownerNo, runId, plan, status }: StoredRollout): RunPart {
  const { from, to } = waveParts(plan.sizes)[status.wave] ?? { from: 0, to: 0 }
  return { ownerNo, runId, from, to }
}

/** Writes a status that a rule, a clock or a person has decided; false: the rollout has changed meanwhile. */
export async function applyStatus(
  deps: RollOutDeps,
  before: StoredRollout,
  {
    status,
    nextAt,
    ...more
  }: JudgedRollout & Originated & Partial<Pick<RolloutChange, 'plan' | 'events' | 'cancels'>>,
  moment: Moment,
): Promise<boolean> {
  const { events = eventsOf(before.status, status), plan, origin, cancels } = more
  const isSame = isDeepStrictEqual(status, before.status) && nextAt === before.nextAt && plan === undefined
  if (isSame) return true
  const beside = { ...(plan && { plan }), ...(cancels && { cancels }), ...(origin && { origin }) }
  const change = { before, status, nextAt, events, moment, ...beside }
  if (!(await deps.store.changeRollout(change))) return false
  deps.changes.notify([before.runId])
  await announce(deps, before, before.status.released, status.released)
  return true
}

/** Notifies the devices at these positions, on all nodes. */
export async function announce(
  deps: Pick<NotifyDeps, 'link'> & { store: Pick<Store, 'listReleased'> },
  { ownerNo, runId }: RunKey,
  from: number,
  to: number,
): Promise<void> {
  for (let start = from; start < to; start += devicesPerPart) {
    const part = { ownerNo, runId, from: start, to: Math.min(to, start + devicesPerPart) }
    const released = await deps.store.listReleased(part)
    if (released) deps.link.released(part, released)
  }
}

/** Cancels the unreleased executions of a denied or aborted run. */
async function endRollout(deps: RollOutDeps, rollout: StoredRollout, moment: Moment): Promise<void> {
  const { ownerNo, runId, firstExecutionId, status } = rollout
  let from: number | undefined = firstExecutionId + status.released
  while (from !== undefined) {
    if (deps.stopping.aborted) return
    const move = { ownerNo, runId, event: 'rollout-stopped', actor: stopperOf(status, ownerNo) } as const
    const batch = await deps.store.moveRun({ ...move, moment: deps.moment(), from })
    if (batch === undefined) return
    notifyTaken(deps, batch.moved)
    from = batch.next
  }
  await deps.store.changeRollout({ before: rollout, status, nextAt: null, isOver: true, events: [], moment })
}

/** The actor for the history: who denied or canceled the run; "clock" for a rule. */
function stopperOf({ pausedBy }: RolloutStatus, ownerNo: number): string {
  const keyId = keyIdAt(pausedBy, ownerNo)
  return keyId === undefined ? 'clock' : actorOf({ keyId })
}

/** Ends a rollout whose executions have all ended, or were canceled one by one. */
async function closeFinished(deps: RollOutDeps, before: StoredRollout, moment: Moment): Promise<void> {
  const state = before.status.released < before.total ? 'ABORTED' : 'RELEASED'
  const status = { ...before.status, state } as const
  await deps.store.changeRollout({ before, status, nextAt: null, isOver: true, events: [], moment })
}

/** The events of a change by a rule or a clock. */
function eventsOf(before: RolloutStatus, after: RolloutStatus): RolloutEvent[] {
  const details = { wave: after.wave + 1, released: after.released, principal: service }
  const events: RolloutEvent[] = []
  if (after.released > before.released) events.push({ type: 'run.released', details })
  if (after.state === before.state) return events
  const because = { ...details, because: after.pausedBecause }
  if (after.state === 'PAUSED') events.push({ type: 'run.paused', details: because })
  if (after.state === 'AWAITING_APPROVAL') events.push({ type: 'run.awaiting_approval', details })
  if (after.state === 'ABORTED') events.push({ type: 'run.aborted', details: because })
  return events
}
