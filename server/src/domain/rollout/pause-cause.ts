import type { ExecState, PauseRule } from '@jobcast/contract'

/** Why the run does not continue, for programs; `pausedBecause` is the text for people. */
export type PauseCause = {
  rule: PauseRule
  /** The current wave at that time, from 1. */
  wave: number
  /** For a stop rule: its position, from 1, and what it counted. */
  stopRule: number | null
  of: 'RUN' | 'WAVE' | 'SCHEDULE' | null
  on: ExecState[]
  count: number | null
  ended: number | null
  percent: number | null
  /** For a closed gate: how many devices of its wave must succeed, and how many still can. */
  needed: number | null
  possible: number | null
  /** Some of the executions that the stop rule or gate counted. */
  executions: { jobExecutionId: number; deviceId: string; execState: ExecState }[]
}

/** A cause without counts. */
export function causeOf({ wave }: { wave: number }, rule: PauseRule): PauseCause {
  const nothing = { stopRule: null, of: null, on: [], count: null, ended: null, percent: null }
  const noGate = { needed: null, possible: null }
  return { rule, wave: wave + 1, ...nothing, ...noGate, executions: [] }
}
