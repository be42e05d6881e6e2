// Which part of a device's output is stored: each byte once, up to a number of bytes and of pieces.

import type { ReportOutcome } from './device-report.ts'
import type { LiveExecution } from './execution-move.ts'

/** The pieces of an attempt are contiguous, without gaps or overlaps. */
export type OutputPiece = { jobExecutionId: number; attempt: number; start: number; data: Uint8Array }

type KeptOutput = {
  outcome: Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>
  /** With its new length; undefined if nothing changed. */
  execution?: LiveExecution
  piece?: OutputPiece
}

/** Drops bytes that are already stored, and bytes beyond the limits. */
export function keepOutput(
  before: LiveExecution,
  {
    offset,
    data,
    maxBytes,
    maxPieces,
  }: { offset: number; data: Uint8Array; maxBytes: number; maxPieces: number },
): KeptOutput {
  const { jobExecutionId, outputBytes: start, runId, life } = before
  if (before.outputCut) return { outcome: { kind: 'output-kept', length: start, cut: true, runId } }
  if (offset > start) return { outcome: { kind: 'output-gap', length: start } }
  const fresh = data.subarray(start - offset)
  const isFull = maxPieces > 0 && before.outputPieces >= maxPieces
  const kept = fresh.subarray(0, isFull ? 0 : Math.max(0, maxBytes - start))
  const cut = kept.length < fresh.length
  const length = start + kept.length
  const outputPieces = before.outputPieces + (kept.length > 0 ? 1 : 0)
  return {
    outcome: { kind: 'output-kept', length, cut, runId },
    ...(fresh.length > 0 && { execution: { ...before, outputBytes: length, outputCut: cut, outputPieces } }),
    ...(kept.length > 0 && { piece: { jobExecutionId, attempt: life.attempt, start, data: kept } }),
  }
}
