import type { LaunchedRun } from '../../trigger/launched-run.ts'

/** The span of a call that belongs to a trace. */
export type TriggerSpan = {
  /** Stored with the run and sent to its devices: the span of this call if spans are exported, otherwise that of the caller. */
  readonly traceParent: string
  end(run: LaunchedRun): void
}

export type RunTraces = {
  /** Undefined if the header is malformed. */
  begin(traceParent: string): TriggerSpan | undefined
  /** Resolves when it is stored with the run. Never rejects, because a call must not fail for its trace. */
  keep(run: { ownerNo: number; runId: number; traceParent: string }): Promise<void>
}
