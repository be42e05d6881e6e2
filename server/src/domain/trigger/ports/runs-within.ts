import type { ExecState } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'

/** The executions of a run whose devices match a selector; at least one. */
export type RunWithin = {
  runId: number
  total: number
  counts: Record<ExecState, number>
  /** When the last of them ended; null while one is unfinished. */
  endedAt: number | null
}

export type RunsWithinStore = {
  /** The runs that have such executions, in any order. */
  countRunsWithin(runs: { ownerNo: number; runIds: number[]; where: Selector }): Promise<RunWithin[]>
  /** How long executions of these runs took that succeeded on devices that match: those whose id is a multiple of `stride`. */
  listDurationsWithin(runs: {
    ownerNo: number
    runIds: number[]
    where: Selector
    stride: number
  }): Promise<{ runId: number; ms: number }[]>
}
