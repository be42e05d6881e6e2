// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { ReportOutcome } from '../../domain/device-report.ts'
import type { LiveExecution } from './live-executions.ts'
import { numbers } from './rows.ts'
import type { Transaction } from './transaction.ts'

const INSERT = `
  INSERT INTO output (execution_id, attempt, start, data)
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bytea[])`

type KeptOrGap = Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>

export type Piece = { jobExecutionId: number; attempt: number; start: number; data: Uint8Array }

/** What lies below the kept length is dropped, and so is what lies beyond the limit. */
export function keepOutput(
  live: LiveExecution,
  offset: number,
  data: Uint8Array,
  maxBytes: number,
): { outcome: KeptOrGap; after?: LiveExecution; piece?: Piece } {
  const { jobExecutionId, outputBytes, runId, life } = live
  if (live.outputCut) return { outcome: { kind: 'output-kept', length: outputBytes, cut: true, runId } }
  if (offset > outputBytes) return { outcome: { kind: 'output-gap', length: outputBytes } }
  const fresh = data.subarray(outputBytes - offset)
  const kept = fresh.subarray(0, Math.max(0, maxBytes - outputBytes))
  const cut = kept.length < fresh.length
  const length = outputBytes + kept.length
  return {
    outcome: { kind: 'output-kept', length, cut, runId },
    ...(fresh.length > 0 && { after: { ...live, outputBytes: length, outputCut: cut } }),
    ...(kept.length > 0 && {
      piece: { jobExecutionId, attempt: life.attempt, start: outputBytes, data: kept },
    }),
  }
}

export function insertPieces(transaction: Transaction, pieces: Piece[]): void {
  if (pieces.length === 0) return
  transaction.send(INSERT, [
    numbers(pieces.map(({ jobExecutionId }) => jobExecutionId)),
    numbers(pieces.map(({ attempt }) => attempt)),
    numbers(pieces.map(({ start }) => start)),
    pieces.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.length)),
  ])
}
