// Executions, their histories, and what devices got: states only move forward, an attempt starts once, counts of runs match their
// executions, and acknowledged reports are never lost.

import { type ExecState, type Execution, execStates, type Transition } from '@jobcast/contract'
import type { DeviceStep, Final, History } from './history.ts'

/** Only upwards within an attempt. */
const rank: Record<ExecState, number> = {
  PENDING: 0,
  IN_PROGRESS: 1,
  CANCELING: 2,
  SUCCEEDED: 3,
  FAILED: 3,
  TIMED_OUT: 3,
  REJECTED: 3,
  EXPIRED: 3,
  CANCELED: 3,
}
const endRank = 3

export function checkExecutions({
  runs,
  executions,
  transitions,
}: Omit<Final, 'log' | 'webhookAfter'>): string[] {
  const problems: string[] = []
  const byRun = Map.groupBy(executions, ({ runId }) => runId)
  const known = new Set(runs.map(({ runId }) => runId))
  for (const runId of byRun.keys())
    if (!known.has(runId)) problems.push(`run ${runId} has executions but is gone`)
  const ids = new Set<number>()
  for (const { jobExecutionId } of executions) {
    if (ids.has(jobExecutionId)) problems.push(`execution ${jobExecutionId} is listed twice`)
    ids.add(jobExecutionId)
  }
  for (const { runId, total, counts, finished } of runs) {
    const its = byRun.get(runId) ?? []
    if (total !== its.length) problems.push(`run ${runId} has ${its.length} executions and says ${total}`)
    for (const state of execStates) {
      const count = its.filter(({ execState }) => execState === state).length
      if (counts[state] !== count)
        problems.push(`run ${runId} has ${count} ${state} and counts ${counts[state]}`)
    }
    const hasEnded = its.every(({ execState }) => rank[execState] === endRank)
    if (finished !== hasEnded)
      problems.push(`run ${runId} says finished: ${finished}, its executions ${hasEnded}`)
  }
  for (const execution of executions) {
    const its = transitions.get(execution.jobExecutionId) ?? []
    problems.push(
      ...checkTransitions(execution, its).map((what) => `execution ${execution.jobExecutionId} ${what}`),
    )
  }
  return problems
}

function checkTransitions(execution: Execution, its: Transition[]): string[] {
  const problems: string[] = []
  const started = new Set<number>()
  let state: ExecState | null = null
  let version = 0
  let attempt = 1
  for (const { from, to, event, attempt: of, versionNumber } of its) {
    if (from !== state) problems.push(`left ${from}, where it was not, for ${to}`)
    if (versionNumber <= version) problems.push(`has version ${versionNumber} after ${version}`)
    if (of !== attempt) problems.push(`moved to ${to} in attempt ${of} instead of ${attempt}`)
    if (event === 'retry') {
      if (state === null || rank[state] === endRank || to !== 'PENDING')
        problems.push(`was retried from ${state} to ${to}`)
      attempt++
    } else if (event === 'not-now') {
      if (state === null || rank[state] >= rank.CANCELING || to !== 'PENDING')
        problems.push(`was put off from ${state} to ${to}`)
      started.delete(of)
    } else if (state !== null && rank[to] <= rank[state]) problems.push(`went back from ${state} to ${to}`)
    if (event === 'start') {
      if (started.has(of)) problems.push(`started attempt ${of} twice`)
      started.add(of)
    }
    state = to
    version = versionNumber
  }
  if (state !== execution.execState)
    problems.push(`is ${execution.execState} and its history ends with ${state}`)
  if (attempt !== execution.attempt)
    problems.push(`is at attempt ${execution.attempt}, its history at ${attempt}`)
  if (execution.versionNumber < version)
    problems.push(`has version ${execution.versionNumber}, its history ${version}`)
  return problems
}

const endedBy: Record<string, string[]> = {
  SUCCEEDED: ['succeed'],
  FAILED: ['fail', 'retry'],
  REJECTED: ['reject'],
  CANCELED: ['confirm-cancel'],
}

/** What devices were handed and reported, against the histories. */
export function checkSteps(
  { steps }: Pick<History, 'steps'>,
  { executions, transitions }: Pick<Final, 'executions' | 'transitions'>,
): string[] {
  const problems: string[] = []
  const deviceOf = new Map(executions.map(({ jobExecutionId, deviceId }) => [jobExecutionId, deviceId]))
  const acknowledged = new Set<string>()
  for (const step of steps) {
    const { deviceId, jobExecutionId, attempt } = step
    const where = `attempt ${attempt} of execution ${jobExecutionId}`
    const owner = deviceOf.get(jobExecutionId)
    if (owner !== deviceId) problems.push(`${where} was handed to ${deviceId}, it is of ${owner}`)
    const its = (transitions.get(jobExecutionId) ?? []).filter((each) => each.attempt === attempt)
    if (step.kind === 'handed') {
      if (acknowledged.has(where))
        problems.push(`${where} was handed over again after its end was acknowledged`)
      if (!its.some(({ event }) => event === 'start'))
        problems.push(`${where} was handed over and never started`)
    } else if (step.answer === 'accepted') {
      acknowledged.add(where)
      if (!hasEnd(step, its)) problems.push(`${where} was acknowledged as ${step.status}, which is lost`)
    }
  }
  return problems
}

function hasEnd(step: DeviceStep & { kind: 'reported' }, its: Transition[]): boolean {
  return its.some(({ event, actor }) => actor === 'device' && endedBy[step.status]?.includes(event))
}
