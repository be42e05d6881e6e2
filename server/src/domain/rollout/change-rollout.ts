// Changes that callers make to a rollout: pause, resume, advance, patch. Approvals are in decide-approval.ts.

import { isDeepStrictEqual } from 'node:util'
import { ApiError, type ResumeRequest, type RolloutChanges } from '@jobcast/contract'
import { requireScope } from '../access/access.ts'
import { actorOf, type Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { originOf } from '../audit/audit.ts'
import type { SteadyInstant } from '../common/instants.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import type { Moved } from '../execution/ports/executions.ts'
import type { RunKey } from '../trigger/ports/runs.ts'
import { withHands } from './approval.ts'
import { countsWithout, type Excluded, findExcluded } from './exclude-devices.ts'
import { lineageOfCaller, requireNoHand } from './hands.ts'
import {
  advanceRollout,
  askAgain,
  hasBegun,
  hasPassed,
  keepDecisions,
  pauseRollout,
  type RolloutFacts,
  type RolloutStatus,
  resumeRollout,
  startRollout,
  waitAtNextGate,
  waitFor,
} from './judge-rollout.ts'
import { patchedRollout, patchedSizes, weakensGate } from './patch-rollout.ts'
import type { RolloutFactsFound } from './ports/rollouts.ts'
import { applyStatus, type RollOutDeps, rollOut } from './roll-out.ts'
import { eventsAtBegin, type RolloutEvent, type RolloutPlan, type StoredRollout } from './rollout.ts'
import { requireRollout } from './rollout-selectors.ts'

export type ChangeRolloutDeps = RollOutDeps & { store: Store; rollouts: { judgeSoon(run: RunKey): void } }

/** `canceled`: PENDING executions that are canceled in the same transaction. */
type Decided = { status: RolloutStatus; events: RolloutEvent[]; plan?: RolloutPlan; canceled?: Moved[] }
type Decide = (found: RolloutFactsFound, moment: Moment) => Decided | Promise<Decided>

/** Attempts at the write: a ticker may change the rollout between our read and our write, or an execution to cancel may start. */
const mostTries = 20

export function pauseRun(deps: ChangeRolloutDeps, caller: Caller, runId: number): Promise<void> {
  return changeRollout(deps, caller, runId, ({ rollout: { status } }) => {
    if (status.state === 'PAUSED') {
      const detail = `Run ${runId} is already paused: ${status.pausedBecause}.`
      throw new ApiError('J-303', { detail })
    }
    requireState(status, 'ROLLING_OUT')
    const paused = { rule: 'PRINCIPAL', because: 'it was paused manually', by: principalOf(caller) } as const
    return decided(pauseRollout(status, paused), 'run.paused', caller)
  })
}

export async function resumeRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  { except = [] }: ResumeRequest = {},
): Promise<void> {
  await changeRollout(deps, caller, runId, async (found, moment) => {
    requireState(found.rollout.status, 'PAUSED')
    const excluded = await findExcluded(deps, caller, found.rollout, except)
    const resumed = await resumeWithout(deps, caller, found, moment, excluded)
    return { ...resumed, canceled: excluded.moved }
  })
}

async function resumeWithout(
  deps: ChangeRolloutDeps,
  caller: Caller,
  found: RolloutFactsFound,
  { at, clock: now }: Moment,
  without: Excluded,
): Promise<Decided> {
  const { rollout } = found
  const { status, plan, startAt } = rollout
  const excluded = without.inWave[status.wave] ?? 0
  if (!hasBegun(status)) {
    const isEarly = startAt !== null && startAt > at
    const accepting = { ...status, accepted: status.accepted + excluded }
    const begun = isEarly
      ? keepDecisions(accepting, waitFor('SCHEDULED', plan.sizes.length))
      : startRollout(accepting, plan, now)
    return started(deps, caller, begun)
  }
  // The gate was changed to need an approval while the run was paused there.
  if (hasPassed(status) && asksNext(rollout)) return waiting(status, now, caller)
  const counts = countsWithout(await countsOf(deps, found), without, status.wave)
  return decided(resumeRollout(status, { ...counts, now }, excluded), 'run.resumed', caller)
}

/** Begins the next wave now: skips its gate unless that needs an approval; the first wave skips `startAt`. */
export function advanceRun(deps: ChangeRolloutDeps, caller: Caller, runId: number): Promise<void> {
  return changeRollout(deps, caller, runId, async (found, { clock }) => {
    const { rollout } = found
    const { status, plan } = rollout
    requireState(status, 'SCHEDULED', 'ROLLING_OUT', 'PAUSED')
    const isWaiting = status.state === 'SCHEDULED' || (status.state === 'PAUSED' && !hasBegun(status))
    if (isWaiting) return started(deps, caller, startRollout(status, plan, clock))
    if (asksNext(rollout)) return waiting(status, clock, caller)
    const advanced = advanceRollout(status, { ...(await countsOf(deps, found)), now: clock })
    if (advanced === undefined) throw new ApiError('J-303', { detail: 'The last wave has already started.' })
    return decided(advanced, 'run.resumed', caller)
  })
}

export async function countsOf(
  { waveCounts }: Pick<ChangeRolloutDeps, 'waveCounts'>,
  { rollout, run }: RolloutFactsFound,
): Promise<Pick<RolloutFacts, 'run' | 'wave' | 'sizes' | 'canceled'>> {
  const waves = await waveCounts.now(rollout, run)
  const canceled = waves.map(({ CANCELED }) => CANCELED)
  return { run, wave: waves[rollout.status.wave] ?? {}, sizes: rollout.plan.sizes, canceled }
}

/** Applies a merge patch (RFC 7396) to the rules. */
export function patchRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  patch: RolloutChanges,
): Promise<void> {
  return changeRollout(deps, caller, runId, async (found) => {
    const { status, plan, total } = found.rollout
    requireState(status, 'SCHEDULED', 'AWAITING_APPROVAL', 'ROLLING_OUT', 'PAUSED')
    const rollout = patchedRollout(plan.rollout, patch)
    await requireRollout(deps, caller, rollout)
    const begun = hasBegun(status) ? status.wave + 1 : 0
    const sizes = patchedSizes(plan, { total, begun }, rollout)
    if (isDeepStrictEqual([rollout, sizes], [plan.rollout, plan.sizes])) return { status, events: [] }
    const patched = { ...plan, rollout, sizes }
    if (isGuarded(found.rollout) && weakensGate(plan, patched, status)) {
      requireScope(caller, 'APPROVE')
      await requireNoHand(deps, caller, found)
    }
    const waves = sizes.map((_, index) => status.waves[index] ?? { startedAt: null, passedAt: null })
    const after = askAgain({ ...status, waves }, plan)
    const hand = await lineageOfCaller(deps, caller)
    const changed = decided(withHands(after, [hand]), 'run.changed', caller)
    const asked = after.state === status.state ? [] : decided(after, 'run.awaiting_approval', caller).events
    return { ...changed, events: [...changed.events, ...asked], plan: patched }
  })
}

/** A run before its first approval is not guarded: the approver sees the changed rules. */
function isGuarded({ plan, status }: StoredRollout): boolean {
  return plan.approval === false || hasBegun(status)
}

/** The next wave needs an approval. */
function asksNext({ plan: { rollout, sizes }, status: { wave } }: StoredRollout): boolean {
  return rollout.next?.action === 'APPROVAL' && wave + 1 < sizes.length
}

/** Starting a run by hand counts as being involved in it. */
async function started(deps: ChangeRolloutDeps, caller: Caller, begun: RolloutStatus): Promise<Decided> {
  const status = withHands(begun, [await lineageOfCaller(deps, caller)])
  const { events } = decided(status, 'run.resumed', caller)
  const asks = status.state === 'AWAITING_APPROVAL'
  return { status, events: [...events, ...(asks ? eventsAtBegin({ status }) : [])] }
}

function waiting(status: RolloutStatus, now: SteadyInstant, caller: Caller): Decided {
  return decided(waitAtNextGate(status, now), 'run.awaiting_approval', caller)
}

/** Reads, decides and writes, again if the rollout has changed in between; then continues the rollout. */
export async function changeRollout(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  decide: Decide,
): Promise<void> {
  const { ownerNo } = caller
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await deps.store.getRollout({ ownerNo, runId })
    if (found === undefined) throw await whyNone(deps, ownerNo, runId)
    const moment = deps.moment()
    const { status, events, plan, canceled = [] } = await decide(found, moment)
    const nextAt = status.state === 'ROLLING_OUT' ? moment.clock : null
    const jobExecutionIds = canceled.map((each) => each.jobExecutionId)
    const cancels = canceled.length > 0 && { cancels: { jobExecutionIds, actor: actorOf(caller) } }
    const judged = { status, nextAt, events, ...(plan && { plan }), ...cancels, ...originOf(caller) }
    if (!(await applyStatus(deps, found.rollout, judged, moment))) continue
    notifyTaken(deps, canceled)
    if (status.state === 'ROLLING_OUT') await rollOut(deps, { ownerNo, runId })
    // Canceling the rest may take long, so the ticker does it.
    else deps.rollouts.judgeSoon({ ownerNo, runId })
    return
  }
  throw new ApiError('J-908', { retryAfterSeconds: 1 })
}

async function whyNone({ store }: ChangeRolloutDeps, ownerNo: number, runId: number): Promise<ApiError> {
  const run = await store.getRun({ ownerNo, runId })
  return run === undefined
    ? notFound('J-304', runId)
    : new ApiError('J-303', { detail: 'The run has no rollout.' })
}

export function decided(
  status: RolloutStatus,
  type: RolloutEvent['type'],
  caller: Caller,
  more: { comment?: string; missing?: number } = {},
): Decided {
  const { wave, released, pausedBecause } = status
  const details = {
    ...{ wave: wave + 1, released, principal: principalOf(caller) },
    ...(pausedBecause !== null && { because: pausedBecause }),
    ...more,
  }
  return { status, events: [{ type, details }] }
}

export function requireState({ state }: RolloutStatus, ...allowed: RolloutStatus['state'][]): void {
  if (!allowed.includes(state)) throw new ApiError('J-303', { detail: `The rollout is ${state}.` })
}
