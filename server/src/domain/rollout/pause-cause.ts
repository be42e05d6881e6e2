import type { ExecState, PauseRule } from '@jobcast/contract'

/** Why it does not go on, for programs; `pausedBecause` says it for people. */
export type PauseCause = {
  rule: PauseRule
  /** The current wave then, from 1. */
  wave: number
  /** Of a stop rule: which one of them, from 1, and what it has counted. */
  stopRule: number | null
  of: 'RUN' | 'WAVE' | 'SCHEDULE' | null
  on: ExecState[]
  count: number | null
  ended: number | null
  percent: number | null
  /** Of a gate that is closed: how many devices of its wave must succeed, and how many still can. */
  needed: number | null
  possible: number | null
  /** Some of those that a stop rule or a gate has counted. */
  executions: { jobExecutionId: number; deviceId: string; execState: ExecState }[]
}

/** Of what no stop rule has counted. */
export function causeOf({ wave }: { wave: number }, rule: PauseRule): PauseCause {
  const nothing = { stopRule: null, of: null, on: [], count: null, ended: null, percent: null }
  const noGate = { needed: null, possible: null }
  return { rule, wave: wave + 1, ...nothing, ...noGate, executions: [] }
}
