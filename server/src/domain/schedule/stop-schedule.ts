// Over a schedule that gives its job to devices as they start to match, each run is small: so its stop rules count all of its
// runs of the last 24 hours. One that is met holds what was not released, then pauses the schedule: whoever finds it after a
// crash does both again. Resumed, the schedule counts anew and lets go what was held.

import type { Rollout } from '@jobcast/contract'
import { principalOf, service } from '../access/principal.ts'
import type { WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import { type EndedCounts, ends } from '../rollout/gate.ts'
import { resumeRollout, stopBecauseOf } from '../rollout/judge-rollout.ts'
import { applyStatus, type RollOutDeps, rollOut } from '../rollout/roll-out.ts'
import type { RolloutEvent, StoredRollout } from '../rollout/rollout.ts'
import { countsOfMet, findMet, type MetRule, type StopRule, wordsOfMet } from '../rollout/stop-rule.ts'
import type { StopBaseline, StoredSchedule } from './ports/schedules.ts'
import { pausedEvent } from './schedule-events.ts'

export type StopScheduleDeps = RollOutDeps & { store: Store }

const countedMs = 86_400_000
/** So many runs that went on are remembered; what is older was made long before. */
const mostRemembered = 100
const where = "the schedule's runs of the last 24 hours"

/** Those that are counted over all runs. `lastPlan`: of its last run, which has the rules of the job if it has none itself. */
export function stopRulesOf({ content }: StoredSchedule, lastPlan: Rollout | undefined): StopRule[] {
  const rules = content.rollout === null ? lastPlan?.stop : content.rollout.stop
  return rules?.some(({ of = 'RUN' }) => of === 'RUN') ? rules : []
}

/** The first instant of which runs are counted. */
export function countedSince(at: WallInstant): WallInstant {
  return at - countedMs
}

/** Of several rules that are met the hardest action wins, then the first of the list. */
export function findStop(rules: StopRule[], counts: EndedCounts): MetRule | undefined {
  const isMeant = ({ of = 'RUN' }: StopRule) => of === 'RUN'
  const met = (isWanted: (rule: StopRule) => boolean) =>
    findMet(rules, (rule) => (isWanted(rule) && isMeant(rule) ? { counts, baseline: {} } : undefined))
  return met(({ action }) => action === 'ABORT') ?? met(() => true)
}

/** With what has ended of earlier runs since it was resumed. */
export async function addEarlier(
  { store }: StopScheduleDeps,
  { ownerNo, stopBaseline }: StoredSchedule,
  since: WallInstant,
  counts: EndedCounts,
): Promise<EndedCounts> {
  const before = new Map(stopBaseline?.runs.map((run) => [run.runId, run.counts]))
  if (before.size === 0) return counts
  const sum: EndedCounts = { ...counts }
  for (const run of await store.listRunCounts({ ownerNo, runIds: [...before.keys()], since })) {
    const known = before.get(run.runId) ?? {}
    for (const state of ends) sum[state] = (sum[state] ?? 0) + run[state] - (known[state] ?? 0)
  }
  return sum
}

/** Of one that is resumed. */
export async function countAnew(
  { store }: Pick<StopScheduleDeps, 'store'>,
  { ownerNo, scheduleNo, content, pausedCause }: StoredSchedule,
): Promise<StopBaseline | null> {
  if (content.when.kind !== 'match') return null
  const found = await store.listUnfinishedCounts({ ownerNo, scheduleNo, limit: mostRemembered })
  const runs = found.map(({ runId, ...counts }) => {
    return { runId, counts: Object.fromEntries(ends.map((state) => [state, counts[state]])) }
  })
  return { runs, letsGo: pausedCause?.rule === 'STOP_RULE' }
}

/** False: somebody else has changed it meanwhile. */
export async function stopSchedule(
  deps: StopScheduleDeps,
  before: StoredSchedule,
  met: MetRule,
): Promise<boolean> {
  const moment = deps.moment()
  for (const rollout of await listRolling(deps, before)) {
    const status = stopBecauseOf(rollout.status, met, 'SCHEDULE', where)
    await applyStatus(deps, rollout, { status, nextAt: null, events: eventOf(rollout, status) }, moment)
  }
  const cause = { rule: 'STOP_RULE', because: wordsOfMet(met, where), ...countsOfMet(met) } as const
  const { set, events } = pausedEvent(before, cause, service, moment.at)
  return deps.store.changeSchedule({ before, set, events, at: moment.at })
}

/** Those with something that is not released; of one that its own stop rule has paused, the schedule decides from now on. */
async function listRolling(
  { store }: StopScheduleDeps,
  { ownerNo, scheduleNo }: StoredSchedule,
): Promise<StoredRollout[]> {
  const runs = await store.listBusyRuns({ ownerNo, scheduleNo })
  const found = await store.listRollouts({ ownerNo, runIds: runs.map(({ runId }) => runId) })
  return found.filter(({ status: { state, pausedCause } }) => {
    if (state === 'PAUSED') return pausedCause?.rule === 'STOP_RULE' && pausedCause.of !== 'SCHEDULE'
    return state === 'ROLLING_OUT'
  })
}

function eventOf(before: StoredRollout, { state, pausedBecause, wave, released }: StoredRollout['status']) {
  const type = state === 'ABORTED' ? 'run.aborted' : 'run.paused'
  const details = { wave: wave + 1, released, because: pausedBecause, principal: service }
  return before.status.state === state ? [] : [{ type, details } satisfies RolloutEvent]
}

/** It was resumed after a stop rule: so are the runs that the rule has held. False: there is nothing to do. */
export async function letGo(deps: StopScheduleDeps, before: StoredSchedule): Promise<boolean> {
  const { ownerNo, scheduleNo, stopBaseline } = before
  if (!stopBaseline?.letsGo) return false
  for (const { runId } of await deps.store.listBusyRuns({ ownerNo, scheduleNo })) {
    const found = await deps.store.getRollout({ ownerNo, runId })
    const { state, pausedCause } = found?.rollout.status ?? {}
    if (found === undefined || state !== 'PAUSED' || pausedCause?.of !== 'SCHEDULE') continue
    const { rollout, run } = found
    const moment = deps.moment()
    const wave = (await deps.waveCounts.now(rollout, run))[rollout.status.wave] ?? {}
    const facts = { run, wave, sizes: rollout.plan.sizes, now: moment.clock }
    const status = resumeRollout(rollout.status, facts)
    const details = { wave: status.wave + 1, released: status.released, principal: principalOf(before) }
    const events: RolloutEvent[] = [{ type: 'run.resumed', details }]
    if (await applyStatus(deps, rollout, { status, nextAt: moment.clock, events }, moment))
      await rollOut(deps, { ownerNo, runId })
  }
  const set = { stopBaseline: { ...stopBaseline, letsGo: false } }
  await deps.store.changeSchedule({ before, set, at: deps.moment().at })
  return true
}
