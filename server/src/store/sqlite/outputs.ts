// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { OutputSlice, ReportOutcome } from '../../domain/device-report.ts'
import { isTerminal } from '../../domain/execution.ts'
import { inSnapshot } from './database.ts'
import type { LiveExecution } from './moves.ts'

const INSERT = 'INSERT INTO output (execution_id, attempt, start, data) VALUES (?, ?, ?, ?)'
const SET_LENGTH = 'UPDATE execution SET output_bytes = ?, output_cut = ? WHERE execution_id = ?'
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

type KeptOrGap = Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>

export type OutputQuestion = {
  ownerNo: number
  jobExecutionId: number
  offset: number
  limit: number
  attempt: number | undefined
}

export function prepareOutputs(db: DatabaseSync) {
  const insert = db.prepare(INSERT)
  const setLength = db.prepare(SET_LENGTH)
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

  return {
    /** What lies below the kept length is dropped, and so is what lies beyond the limit. */
    keepOutput(live: LiveExecution, offset: number, data: Uint8Array, maxBytes: number): KeptOrGap {
      const { jobExecutionId, outputBytes, runId, life } = live
      if (live.outputCut) return { kind: 'output-kept', length: outputBytes, cut: true, runId }
      if (offset > outputBytes) return { kind: 'output-gap', length: outputBytes }
      const fresh = data.subarray(outputBytes - offset)
      const kept = fresh.subarray(0, Math.max(0, maxBytes - outputBytes))
      const cut = kept.length < fresh.length
      const length = outputBytes + kept.length
      if (kept.length > 0) insert.run(jobExecutionId, life.attempt, outputBytes, kept)
      if (fresh.length > 0) setLength.run(length, Number(cut), jobExecutionId)
      return { kind: 'output-kept', length, cut, runId }
    },
    readOutput: (question: OutputQuestion) => inSnapshot(db, () => readOutput(question)),
  }
}
