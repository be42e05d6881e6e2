import type { LaunchedRun } from '../../trigger/launched-run.ts'

/** Of a call that belongs to a trace. */
export type TriggerSpan = {
  /** What the run keeps and its devices get: its own span where spans are exported, else that of the caller. */
  readonly traceParent: string
  end(run: LaunchedRun): void
}

export type RunTraces = {
  /** Undefined if the header is malformed. */
  begin(traceParent: string): TriggerSpan | undefined
  /** Resolves when the run has it. Never rejects: a trace is not worth a failed call. */
  keep(run: { ownerNo: number; runId: number; traceParent: string }): Promise<void>
}
