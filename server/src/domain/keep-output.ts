// Which part of the output that a device sends is kept: each byte once, up to a set size.

import type { ReportOutcome } from './device-report.ts'
import type { LiveExecution } from './execution-move.ts'

/** Pieces of an attempt follow each other without gap or overlap. */
export type OutputPiece = { jobExecutionId: number; attempt: number; start: number; data: Uint8Array }

type KeptOutput = {
  outcome: Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>
  /** With its new length; undefined if nothing has changed. */
  execution?: LiveExecution
  piece?: OutputPiece
}

/** What lies below the kept length is dropped, and so is what lies beyond the limit. */
export function keepOutput(
  before: LiveExecution,
  { offset, data, maxBytes }: { offset: number; data: Uint8Array; maxBytes: number },
): KeptOutput {
  const { jobExecutionId, outputBytes: start, runId, life } = before
  if (before.outputCut) return { outcome: { kind: 'output-kept', length: start, cut: true, runId } }
  if (offset > start) return { outcome: { kind: 'output-gap', length: start } }
  const fresh = data.subarray(start - offset)
  const kept = fresh.subarray(0, Math.max(0, maxBytes - start))
  const cut = kept.length < fresh.length
  const length = start + kept.length
  return {
    outcome: { kind: 'output-kept', length, cut, runId },
    ...(fresh.length > 0 && { execution: { ...before, outputBytes: length, outputCut: cut } }),
    ...(kept.length > 0 && { piece: { jobExecutionId, attempt: life.attempt, start, data: kept } }),
  }
}
