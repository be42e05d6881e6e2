// What people do to a rollout: pause it, let it go on, approve, deny or change it.

import { ApiError, type RolloutChanges } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import type { RunKey } from '../trigger/ports/runs.ts'
import {
  advanceRollout,
  approveRollout,
  pauseRollout,
  type RolloutStatus,
  resumeRollout,
  startRollout,
  waitFor,
} from './judge-rollout.ts'
import { patchedRollout, patchedSizes } from './patch-rollout.ts'
import type { RolloutFactsFound } from './ports/rollouts.ts'
import { applyStatus, type RollOutDeps, rollOut } from './roll-out.ts'
import type { RolloutEvent, RolloutPlan } from './rollout.ts'
import { requireRollout } from './rollout-selectors.ts'

export type ChangeRolloutDeps = RollOutDeps & { store: Store; rollouts: { judgeSoon(run: RunKey): void } }

type Decided = { status: RolloutStatus; events: RolloutEvent[]; plan?: RolloutPlan }
type Decide = (found: RolloutFactsFound, moment: Moment) => Decided | Promise<Decided>

/** How often a clock may change it between our look and our change. */
const mostTries = 20

export function pauseRun(deps: ChangeRolloutDeps, caller: Caller, runId: number): Promise<void> {
  return change(deps, caller, runId, ({ rollout: { status } }) => {
    if (status.state === 'PAUSED') {
      const detail = `Run ${runId} is already paused: ${status.pausedBecause}.`
      throw new ApiError('J-303', { detail })
    }
    requireState(status, 'ROLLING_OUT')
    const paused = { rule: 'PRINCIPAL', because: 'it was paused manually', by: principalOf(caller) } as const
    return decided(pauseRollout(status, paused), 'run.paused', caller)
  })
}

export function resumeRun(deps: ChangeRolloutDeps, caller: Caller, runId: number): Promise<void> {
  return change(deps, caller, runId, async ({ rollout, run }, { at, clock: now }) => {
    const { status, plan, startAt } = rollout
    requireState(status, 'PAUSED')
    if (isUntouched(status)) {
      const isEarly = startAt !== null && startAt > at
      const begun = isEarly ? waitFor('SCHEDULED', plan.sizes.length) : startRollout(plan, now)
      return decided(begun, 'run.resumed', caller)
    }
    const wave = (await deps.waveCounts.now(rollout, run))[status.wave] ?? {}
    const resumed = resumeRollout(status, { run, wave, sizes: plan.sizes, now })
    return decided(resumed, 'run.resumed', caller)
  })
}

/** The next wave begins now, whatever its gate says; the first one, whatever its startAt says. */
export function advanceRun(deps: ChangeRolloutDeps, caller: Caller, runId: number): Promise<void> {
  return change(deps, caller, runId, ({ rollout: { status, plan } }, { clock }) => {
    requireState(status, 'SCHEDULED', 'ROLLING_OUT', 'PAUSED')
    const isWaiting = status.state === 'SCHEDULED' || (status.state === 'PAUSED' && isUntouched(status))
    if (isWaiting) return decided(startRollout(plan, clock), 'run.resumed', caller)
    const advanced = advanceRollout(status, plan.sizes, clock)
    if (advanced === undefined) throw new ApiError('J-303', { detail: 'The last wave has already started.' })
    return decided(advanced, 'run.resumed', caller)
  })
}

export function approveRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  comment: string | undefined,
): Promise<void> {
  return change(deps, caller, runId, ({ rollout: { status, plan }, keyId }, { clock }) => {
    requireOther(caller, keyId)
    requireState(status, 'AWAITING_APPROVAL')
    return decided(approveRollout(status, plan.sizes, clock), 'run.approved', caller, comment)
  })
}

/** What was not released is canceled. */
export function denyRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  comment: string | undefined,
): Promise<void> {
  return change(deps, caller, runId, ({ rollout: { status }, keyId }) => {
    requireOther(caller, keyId)
    requireState(status, 'AWAITING_APPROVAL')
    const because = comment ?? 'it was denied'
    const denied = pauseRollout(status, { rule: 'PRINCIPAL', because, by: principalOf(caller) })
    return decided({ ...denied, state: 'DENIED' }, 'run.denied', caller, comment)
  })
}

/** A merge patch (RFC 7396) of its rules. */
export function patchRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  patch: RolloutChanges,
): Promise<void> {
  return change(deps, caller, runId, async ({ rollout: { status, plan, total } }) => {
    requireState(status, 'SCHEDULED', 'AWAITING_APPROVAL', 'ROLLING_OUT', 'PAUSED')
    const rollout = patchedRollout(plan.rollout, patch)
    await requireRollout(deps, caller, rollout)
    const begun = isUntouched(status) ? 0 : status.wave + 1
    const sizes = patchedSizes(plan, { total, begun }, rollout)
    const waves = sizes.map((_, index) => status.waves[index] ?? { startedAt: null, passedAt: null })
    const changed = decided({ ...status, waves }, 'run.changed', caller)
    return { ...changed, plan: { ...plan, rollout, sizes } }
  })
}

/** Reads, decides and writes until nobody else got in between; then lets it go on from there. */
async function change(
  deps: ChangeRolloutDeps,
  { ownerNo }: Caller,
  runId: number,
  decide: Decide,
): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await deps.store.getRollout({ ownerNo, runId })
    if (found === undefined) throw await whyNone(deps, ownerNo, runId)
    const moment = deps.moment()
    const { status, events, plan } = await decide(found, moment)
    const nextAt = status.state === 'ROLLING_OUT' ? moment.clock : null
    const judged = { status, nextAt, events, ...(plan && { plan }) }
    if (!(await applyStatus(deps, found.rollout, judged, moment))) continue
    if (status.state === 'ROLLING_OUT') await rollOut(deps, { ownerNo, runId })
    // What has to be canceled takes its time.
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

function decided(
  status: RolloutStatus,
  type: RolloutEvent['type'],
  caller: Caller,
  comment?: string,
): Decided {
  const { wave, released, pausedBecause } = status
  const details = {
    ...{ wave: wave + 1, released, principal: principalOf(caller) },
    ...(pausedBecause !== null && { because: pausedBecause }),
    ...(comment !== undefined && { comment }),
  }
  return { status, events: [{ type, details }] }
}

function requireState({ state }: RolloutStatus, ...allowed: RolloutStatus['state'][]): void {
  if (!allowed.includes(state)) throw new ApiError('J-303', { detail: `The rollout is ${state}.` })
}

/** Four eyes: whoever made a run does not approve it. */
function requireOther(caller: Caller, keyId: string | null): void {
  if (caller.keyId === keyId) throw new ApiError('J-810')
}

/** Nothing of it has begun. */
function isUntouched({ waves }: RolloutStatus): boolean {
  return waves.every(({ startedAt }) => startedAt === null)
}
