// Runs of a schedule with `match` are small, so its stop rules count all of its runs of the last 24 hours. A rule that is
// met stops the release of these runs, then pauses the schedule; after a crash both are done again. When the schedule is
// resumed, rules count from zero again and the runs continue.

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
/** How many unfinished runs the baseline covers; older ones were created long before. */
const mostRemembered = 100
const where = "the schedule's runs of the last 24 hours"

/** The rules that count all runs. `lastPlan`: rollout of its last run, which has the job's rules if the schedule has none. */
export function stopRulesOf({ content }: StoredSchedule, lastPlan: Rollout | undefined): StopRule[] {
  const rules = content.rollout === null ? lastPlan?.stop : content.rollout.stop
  return rules?.some(({ of = 'RUN' }) => of === 'RUN') ? rules : []
}

/** Runs created from this instant on are counted. */
export function countedSince(at: WallInstant): WallInstant {
  return at - countedMs
}

/** If several rules are met, ABORT wins over PAUSE, then the first in the list. */
export function findStop(rules: StopRule[], counts: EndedCounts): MetRule | undefined {
  const isMeant = ({ of = 'RUN' }: StopRule) => of === 'RUN'
  const met = (isWanted: (rule: StopRule) => boolean) =>
    findMet(rules, (rule) => (isWanted(rule) && isMeant(rule) ? { counts, baseline: {} } : undefined))
  return met(({ action }) => action === 'ABORT') ?? met(() => true)
}

/** Adds what has ended of earlier runs since the schedule was resumed. */
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

/** The baseline of a schedule that is resumed. */
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

/** False: the schedule has changed meanwhile. */
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

/** Its runs that are still releasing, and those paused by a stop rule of their own, which the schedule now takes over. */
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

/** Resumes the runs that a stop rule of the schedule has paused, once the schedule is resumed. False: nothing to do. */
export async function letGo(deps: StopScheduleDeps, before: StoredSchedule): Promise<boolean> {
  const { ownerNo, scheduleNo, stopBaseline } = before
  if (!stopBaseline?.letsGo) return false
  for (const { runId } of await deps.store.listBusyRuns({ ownerNo, scheduleNo })) {
    const found = await deps.store.getRollout({ ownerNo, runId })
    const { state, pausedCause } = found?.rollout.status ?? {}
    if (found === undefined || state !== 'PAUSED' || pausedCause?.of !== 'SCHEDULE') continue
    const { rollout, run } = found
    const moment = deps.moment()
    const waves = await deps.waveCounts.now(rollout, run)
    const canceled = waves.map(({ CANCELED }) => CANCELED)
    const wave = waves[rollout.status.wave] ?? {}
    const facts = { run, wave, sizes: rollout.plan.sizes, canceled, now: moment.clock }
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
