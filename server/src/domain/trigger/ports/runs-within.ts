import type { ExecState } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'

/** Of the executions of a run whose devices match a selector; there is at least one. */
export type RunWithin = {
  runId: number
  total: number
  counts: Record<ExecState, number>
  /** When the last of them ended; null while one has not. */
  endedAt: number | null
}

export type RunsWithinStore = {
  /** Of those runs that have any, in any order. */
  countRunsWithin(runs: { ownerNo: number; runIds: number[]; where: Selector }): Promise<RunWithin[]>
}
