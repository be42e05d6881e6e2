// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { OutputSlice } from '../../domain/device-report.ts'
import { isTerminal } from '../../domain/execution.ts'
import { inSnapshot } from './database.ts'

const EXECUTION = `
  SELECT run_id, state, attempt, output_bytes, output_cut FROM execution JOIN run USING (run_id)
  WHERE execution_id = ? AND execution.owner_no = ?`
const LENGTH = `
  SELECT start + length(data) AS length FROM output WHERE execution_id = ? AND attempt = ?
  ORDER BY start DESC LIMIT 1`
// From the piece that holds the offset on.
const PIECES = `
  SELECT start, data FROM output WHERE execution_id = :id AND attempt = :attempt AND start >= coalesce(
    (SELECT start FROM output WHERE execution_id = :id AND attempt = :attempt AND start <= :offset
     ORDER BY start DESC LIMIT 1), 0)
  ORDER BY start`

export type OutputQuestion = {
  ownerNo: number
  jobExecutionId: number
  offset: number
  limit: number
  attempt: number | undefined
}

export function prepareOutputs(db: DatabaseSync) {
  const execution = db.prepare(EXECUTION)
  const lengthOf = db.prepare(LENGTH)
  const pieces = db.prepare(PIECES)

  function read(jobExecutionId: number, attempt: number, offset: number, limit: number): Uint8Array {
    const found: Uint8Array[] = []
    let left = limit
    for (const row of pieces.iterate({ id: jobExecutionId, attempt, offset })) {
      const skipped = Math.max(0, offset - (row.start as number))
      const part = (row.data as Uint8Array).subarray(skipped, skipped + left)
      if (part.length > 0) found.push(part)
      left -= part.length
      if (left <= 0) break
    }
    return Buffer.concat(found)
  }

  function readOutput(question: OutputQuestion): OutputSlice | undefined {
    const { ownerNo, jobExecutionId, offset, limit } = question
    const row = execution.get(jobExecutionId, ownerNo)
    if (row === undefined) return undefined
    const newest = row.attempt as number
    const attempt = question.attempt ?? newest
    const isNewest = attempt === newest
    const length = isNewest ? row.output_bytes : (lengthOf.get(jobExecutionId, attempt)?.length ?? 0)
    return {
      data: read(jobExecutionId, attempt, offset, limit),
      length: length as number,
      cut: isNewest && row.output_cut === 1,
      runId: row.run_id as number,
      ended: !isNewest || isTerminal(row.state as ExecState),
    }
  }

  return { readOutput: (question: OutputQuestion) => inSnapshot(db, () => readOutput(question)) }
}
