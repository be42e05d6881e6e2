// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { ExecState } from '@jobcast/contract'
import { isTerminal } from '../../domain/execution.ts'
import type { OutputPiece } from '../../domain/keep-output.ts'
import type { Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
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

export function insertPieces(transaction: Transaction, pieces: OutputPiece[]): void {
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
