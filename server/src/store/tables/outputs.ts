// Output by offset: contiguous pieces for each attempt of an execution.

import { isTerminal } from '../../domain/execution/execution.ts'
import { number, rows, select } from '../schema/column.ts'
import { execution, output } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

const EXECUTION = select(execution.pick('runId', 'execState', 'attempt', 'outputBytes', 'outputCut'))
const FIND = `
  SELECT ${EXECUTION} FROM execution JOIN run ON run.run_id = execution.run_id
  WHERE execution_id = :jobExecutionId AND execution.owner_no = :ownerNo` as const
const LENGTH = `
  SELECT start + length(data) AS length FROM output
  WHERE execution_id = :jobExecutionId AND attempt = CAST(:attempt AS bigint) ORDER BY start DESC LIMIT 1`
const PIECE = select(output.pick('start', 'data'))
// From the piece that contains the offset to the one that contains the end.
const PIECES = `
  SELECT ${PIECE} FROM output
  WHERE execution_id = :jobExecutionId AND attempt = CAST(:attempt AS bigint) AND start < :until
    AND start >= coalesce(
      (SELECT start FROM output
       WHERE execution_id = :jobExecutionId AND attempt = CAST(:attempt AS bigint) AND start <= :offset
       ORDER BY start DESC LIMIT 1), 0)
  ORDER BY start` as const
const largestStart = 2 ** 31 - 1

export const outputSnapshots: ReadSteps<'readOutput'> = {
  async readOutput(queries, { ownerNo, jobExecutionId, offset, limit, attempt: asked }) {
    const found = await queries.get(EXECUTION, FIND, { ownerNo, jobExecutionId })
    if (found === undefined) return undefined
    const { runId, execState, attempt: newest, outputBytes, outputCut } = found
    const attempt = asked ?? newest
    const isNewest = attempt === newest
    const range = { offset: Math.min(largestStart, offset), until: Math.min(largestStart, offset + limit) }
    const [pieces, total] = await Promise.all([
      queries.all(PIECE, PIECES, { jobExecutionId, attempt, ...range }),
      isNewest
        ? { length: outputBytes }
        : queries.get(rows({ length: number() }), LENGTH, { jobExecutionId, attempt }),
    ])
    return {
      data: cut(pieces, offset, limit),
      length: total?.length ?? 0,
      cut: isNewest && outputCut,
      runId,
      ended: !isNewest || isTerminal(execState),
    }
  },
}

function cut(pieces: { start: number; data: Uint8Array }[], offset: number, limit: number): Uint8Array {
  const found: Uint8Array[] = []
  let left = limit
  for (const { start, data } of pieces) {
    const skipped = Math.max(0, offset - start)
    const part = data.subarray(skipped, skipped + left)
    if (part.length > 0) found.push(part)
    left -= part.length
  }
  return Buffer.concat(found)
}
