// Runs that are released little by little, by their events: each change builds on the one before it, nothing starts
// before it is released, and no more is released than the rate allows.

import type { JobcastEvent, RolloutState, Run, RunEventData } from '@jobcast/contract'
import type { Final } from './history.ts'

/** What a service that was away, or a rollout that was paused, may make up for at once. */
const madeUpMs = 10_000
/** Instants of events are whole milliseconds of a clock that other nodes share. */
const toleratedMs = 1000
const minuteMs = 60_000

type RunEvent = JobcastEvent & { data: RunEventData }
type Release = { at: number; before: number; after: number; rate: number | undefined }

/** Without `to` the state stays. */
const leavesTo: Record<string, { from: RolloutState[]; to?: RolloutState }> = {
  'run.released': { from: ['ROLLING_OUT'], to: 'ROLLING_OUT' },
  'run.paused': { from: ['ROLLING_OUT'], to: 'PAUSED' },
  'run.resumed': { from: ['SCHEDULED', 'ROLLING_OUT', 'PAUSED'], to: 'ROLLING_OUT' },
  'run.awaiting_approval': { from: ['ROLLING_OUT', 'PAUSED'], to: 'AWAITING_APPROVAL' },
  'run.approved': { from: ['AWAITING_APPROVAL'], to: 'ROLLING_OUT' },
  'run.denied': { from: ['AWAITING_APPROVAL'], to: 'DENIED' },
  'run.changed': { from: ['SCHEDULED', 'AWAITING_APPROVAL', 'ROLLING_OUT', 'PAUSED'] },
  'run.aborted': { from: ['SCHEDULED', 'AWAITING_APPROVAL', 'ROLLING_OUT', 'PAUSED'], to: 'ABORTED' },
}

export const isRolloutEvent = ({ type }: JobcastEvent): boolean => Object.hasOwn(leavesTo, type)

/** `patched`: runs whose rate was changed. */
export function checkRollouts(
  { runs, executions, log }: Pick<Final, 'runs' | 'executions' | 'log'>,
  patched: ReadonlySet<number> = new Set(),
): string[] {
  const held = runs.filter(({ rollout }) => rollout !== null)
  const ids = new Set(held.map(({ runId }) => runId))
  const byRun = Map.groupBy(log.filter(isOfRun), ({ data }) => data.runId)
  const problems = [...byRun]
    .filter(([runId, events]) => !ids.has(runId) && events.some(isRolloutEvent))
    .map(([runId]) => `run ${runId} has no rollout, and events of one`)
  for (const run of held) {
    const its = (byRun.get(run.runId) ?? []).filter(isRolloutEvent)
    problems.push(...checkRollout(run, its, patched.has(run.runId)).map((what) => `run ${run.runId} ${what}`))
  }
  return [...problems, ...checkStarts(held, executions, log)]
}

function checkRollout({ rollout, total }: Run, its: RunEvent[], isPatched: boolean): string[] {
  const problems: string[] = []
  const definition = rollout?.definition ?? {}
  let state: RolloutState = 'ROLLING_OUT'
  let released = 0
  const releases: Release[] = []
  for (const { type, timestamp, data } of its) {
    const move = leavesTo[type]
    if (move && !move.from.includes(state)) problems.push(`has ${type} while it is ${state}`)
    state = move?.to ?? state
    const now = data.released ?? released
    if (now < released) problems.push(`has ${type} with ${now} released, after ${released}`)
    if (type === 'run.released' && now <= released) problems.push(`has released ${now} twice`)
    if (type !== 'run.released' && now > released && type !== 'run.paused' && type !== 'run.aborted')
      problems.push(`has ${type} with ${now} released, of which nobody was told`)
    if (type === 'run.released') {
      const rate = definition.growth || isPatched ? undefined : definition.ratePerMinute
      releases.push({ at: Date.parse(timestamp), before: released, after: now, rate })
    }
    released = Math.max(released, now)
  }
  if (released > total) problems.push(`has released ${released} of ${total}`)
  const { released: said = 0 } = rollout ?? {}
  if (said !== released) problems.push(`says that ${said} are released, its events ${released}`)
  return [...problems, ...checkRate(releases)]
}

/** Between any two releases, both of them included. */
function checkRate(releases: Release[]): string[] {
  for (const [index, first] of releases.entries()) {
    for (const last of releases.slice(index)) {
      if (last.rate === undefined) continue
      const allowed = (last.rate * (last.at - first.at + madeUpMs + toleratedMs)) / minuteMs + 1
      const count = last.after - first.before
      if (count > allowed) return [`has released ${count} within ${last.at - first.at} ms`]
    }
  }
  return []
}

/** In the order of the log: a start comes behind the release that allows it. */
function checkStarts(held: Run[], executions: Final['executions'], log: JobcastEvent[]): string[] {
  const problems: string[] = []
  const released = new Map(held.map(({ runId }) => [runId, 0]))
  const firstOf = new Map(held.map(({ runId }) => [runId, Number.POSITIVE_INFINITY]))
  for (const { runId, jobExecutionId } of executions) {
    const first = firstOf.get(runId)
    if (first !== undefined) firstOf.set(runId, Math.min(first, jobExecutionId))
  }
  for (const event of log) {
    const { data } = event
    if (event.type === 'run.released' && isOfRun(event))
      released.set(event.data.runId, event.data.released ?? 0)
    if (!('jobExecutionId' in data) || data.cause !== 'start') continue
    const [first, count] = [firstOf.get(data.runId), released.get(data.runId)]
    if (first === undefined || count === undefined) continue
    if (data.jobExecutionId >= first + count)
      problems.push(`execution ${data.jobExecutionId} started before it was released`)
  }
  return problems
}

function isOfRun(event: JobcastEvent): event is RunEvent & JobcastEvent {
  return event.type.startsWith('run.')
}
