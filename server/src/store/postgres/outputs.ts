// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { OutputPiece } from '../../domain/keep-output.ts'
import { numbers } from './rows.ts'
import type { Transaction } from './transaction.ts'

const INSERT = `
  INSERT INTO output (execution_id, attempt, start, data)
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bytea[])`

export function insertPieces(transaction: Transaction, pieces: OutputPiece[]): void {
  if (pieces.length === 0) return
  transaction.send(INSERT, [
    numbers(pieces.map(({ jobExecutionId }) => jobExecutionId)),
    numbers(pieces.map(({ attempt }) => attempt)),
    numbers(pieces.map(({ start }) => start)),
    pieces.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.length)),
  ])
}
