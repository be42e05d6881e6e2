// Searches the outputs of a run: a few at a time, newest execution first.

import type { Execution } from '@jobcast/client'
import { jobcast } from '../../api/client.ts'
import { findLines, OutputLines } from '../execution/output-lines.ts'

export type FoundLine = Pick<Execution, 'jobExecutionId' | 'deviceId' | 'attempt'> & {
  /** Counted from 1, as on the page of the execution. */
  line: number
  text: string
}

export type SearchState = {
  found: FoundLine[]
  searched: number
  /** There may be more matches, because the number of lines and the size read are limited. */
  isCut: boolean
}

const foundAtMost = 200
const bytesOfEach = 1024 * 1024
const bytesAtMost = 200 * 1024 * 1024
/** Maximum number of concurrent requests, because browsers have six connections. */
const atOnce = 3

export async function searchOutput(
  runId: number,
  text: string,
  signal: AbortSignal,
  tell: (state: SearchState) => void,
): Promise<void> {
  const state: SearchState = { found: [], searched: 0, isCut: false }
  let bytes = 0
  const executions = jobcast.executions.list({ runId, limit: 200 }, { signal })[Symbol.asyncIterator]()
  const work = async () => {
    for (let next = await executions.next(); !next.done; next = await executions.next()) {
      if (state.found.length >= foundAtMost || bytes >= bytesAtMost) {
        state.isCut = true
        return
      }
      const { value: execution } = next
      if (execution.outputBytes > 0) {
        bytes += Math.min(bytesOfEach, execution.outputBytes)
        if (execution.outputBytes > bytesOfEach) state.isCut = true
        state.found.push(...(await searchOne(execution, text, signal)))
      }
      state.searched++
      tell({ ...state, found: state.found.slice(0, foundAtMost) })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  tell({ ...state, found: state.found.slice(0, foundAtMost) })
}

async function searchOne(execution: Execution, text: string, signal: AbortSignal): Promise<FoundLine[]> {
  const { jobExecutionId, deviceId, attempt } = execution
  const life = new AbortController()
  const both = AbortSignal.any([signal, life.signal])
  const output = new OutputLines()
  const decoder = new TextDecoder()
  let read = 0
  for await (const piece of await jobcast.executions.output(jobExecutionId, { attempt, signal: both })) {
    output.append(decoder.decode(piece, { stream: true }))
    read += piece.length
    if (read >= bytesOfEach) break
  }
  life.abort() // the rest is not read
  const lines = await findLines(output.lines, text, signal)
  return lines.map((index) => ({
    jobExecutionId,
    deviceId,
    attempt,
    line: index + 1,
    text: output.lines[index]?.text ?? '',
  }))
}
