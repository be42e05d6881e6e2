// Decides which part of a device's output is stored: each byte once, up to limits of bytes and pieces.

import type { MaskedOutput, OutputOffset, OutputState, ReportOutcome } from './device-report.ts'
import type { LiveExecution } from './execution-move.ts'

/** The pieces of an attempt are contiguous, without gaps or overlaps. */
export type OutputPiece = { jobExecutionId: number; attempt: number; start: number; data: Uint8Array }

type KeptOutput = {
  outcome: Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>
  /** With its new length; undefined if nothing changed. */
  execution?: LiveExecution
  piece?: OutputPiece
  /** For an output with secrets. */
  state?: OutputState
}

type Limits = { maxBytes: number; maxPieces: number }

/** Drops bytes that are already stored, and bytes beyond the limits. */
export function keepOutput(
  before: LiveExecution,
  { offset: given, data, maxBytes, maxPieces }: Limits & { offset: OutputOffset; data: Uint8Array },
): KeptOutput {
  const { jobExecutionId, outputBytes: start, runId, life } = before
  if (before.outputCut) return { outcome: { kind: 'output-kept', length: start, cut: true, runId } }
  const offset = given === 'end' ? start : given
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

/**
 * Like `keepOutput`, for output in which secrets are masked: the device counts the bytes that it has sent, not those stored.
 * Each part counts as a piece, so that the number of pieces tells whether a masked part is still the next one.
 */
export function keepMasked(
  before: LiveExecution,
  { offset, masked, maxBytes, maxPieces }: Limits & { offset: OutputOffset; masked: MaskedOutput },
): KeptOutput {
  const { jobExecutionId, outputBytes: start, outputPieces, runId, life } = before
  const { from, received, held } = masked
  if (before.outputCut) return { outcome: { kind: 'output-kept', length: received, cut: true, runId } }
  if (offset !== 'end' && offset > from) return { outcome: { kind: 'output-gap', length: from } }
  const isFull = maxPieces > 0 && outputPieces >= maxPieces
  const data = masked.data.subarray(0, isFull ? 0 : Math.max(0, maxBytes - start))
  const cut = data.length < masked.data.length
  const outcome = { kind: 'output-kept' as const, length: received, cut, runId }
  if (received === from) return { outcome }
  const outputBytes = start + data.length
  const { attempt } = life
  return {
    outcome,
    execution: { ...before, outputBytes, outputCut: cut, outputPieces: outputPieces + 1 },
    ...(data.length > 0 && { piece: { jobExecutionId, attempt, start, data } }),
    state: { jobExecutionId, attempt, received, held },
  }
}

/** Stores the held-back end of an output. It is at most as long as a secret, so limits are not applied. */
export function keepTail(
  before: LiveExecution,
  { data, received }: Pick<MaskedOutput, 'data' | 'received'>,
): { execution: LiveExecution; piece: OutputPiece; state: OutputState } | undefined {
  if (data.length === 0 || before.outputCut) return undefined
  const { jobExecutionId, outputBytes: start, outputPieces, life } = before
  const { attempt } = life
  return {
    execution: { ...before, outputBytes: start + data.length, outputPieces: outputPieces + 1 },
    piece: { jobExecutionId, attempt, start, data },
    state: { jobExecutionId, attempt, received, held: null },
  }
}
