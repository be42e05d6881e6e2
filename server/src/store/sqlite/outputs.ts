// Output by offset: pieces that follow each other without gap or overlap, for each attempt of an execution.

import type { DatabaseSync } from 'node:sqlite'
import type { ReportOutcome } from '../../domain/device-report.ts'
import type { LiveExecution } from './moves.ts'

const INSERT = 'INSERT INTO output (execution_id, attempt, start, data) VALUES (?, ?, ?, ?)'
const SET_LENGTH = 'UPDATE execution SET output_bytes = ?, output_cut = ? WHERE execution_id = ?'

type KeptOrGap = Extract<ReportOutcome, { kind: 'output-kept' | 'output-gap' }>

export function prepareOutputs(db: DatabaseSync) {
  const insert = db.prepare(INSERT)
  const setLength = db.prepare(SET_LENGTH)

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
  }
}
