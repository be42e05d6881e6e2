// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { ExecState } from '@jobcast/contract'
import type { ReportOutcome } from '../../domain/device-report.ts'
import { isTerminal } from '../../domain/execution.ts'
import type { Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import type { LiveExecution } from './live-executions.ts'
import { numbers, type Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const INSERT = `
  INSERT INTO output (execution_id, attempt, start, data)
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bytea[])`
const EXECUTION = `
  SELECT run_id, state, attempt, output_bytes, output_cut FROM execution JOIN run USING (run_id)
  WHERE execution_id = $1 AND execution.owner_no = $2`
const LENGTH = `
  SELECT start + length(data) AS length FROM output WHERE execution_id = $1 AND attempt = $2::bigint
  ORDER BY start DESC LIMIT 1`
// From the piece that holds the offset on, to the one that holds the end.
const PIECES = `
  SELECT start, data FROM output WHERE execution_id = $1 AND attempt = $2::bigint AND start < $4 AND start >= coalesce(
    (SELECT start FROM output WHERE execution_id = $1 AND attempt = $2 AND start <= $3
     ORDER BY start DESC LIMIT 1), 0)
  ORDER BY start`
const largestStart = 2 ** 31 - 1

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

export function buildOutputSteps(db: Database): Pick<Store, 'readOutput'> {
  return {
    readOutput({ ownerNo, jobExecutionId, offset, limit, attempt: asked }) {
      return db.inSnapshot(async (reads) => {
        const [row] = await reads.query(EXECUTION, [jobExecutionId, ownerNo])
        if (row === undefined) return undefined
        const newest = row.attempt as number
        const attempt = asked ?? newest
        const isNewest = attempt === newest
        const until = Math.min(largestStart, offset + limit)
        const place = [jobExecutionId, attempt, Math.min(largestStart, offset), until]
        const [pieces, [last]] = await Promise.all([
          reads.query(PIECES, place),
          reads.query(LENGTH, [jobExecutionId, attempt]),
        ])
        return {
          data: cut(pieces, offset, limit),
          length: isNewest ? (row.output_bytes as number) : ((last?.length as number | undefined) ?? 0),
          cut: isNewest && (row.output_cut as boolean),
          runId: row.run_id as number,
          ended: !isNewest || isTerminal(row.state as ExecState),
        }
      })
    },
  }
}

function cut(pieces: Row[], offset: number, limit: number): Uint8Array {
  const found: Uint8Array[] = []
  let left = limit
  for (const { start, data } of pieces) {
    const skipped = Math.max(0, offset - (start as number))
    const part = (data as Uint8Array).subarray(skipped, skipped + left)
    if (part.length > 0) found.push(part)
    left -= part.length
  }
  return Buffer.concat(found)
}
