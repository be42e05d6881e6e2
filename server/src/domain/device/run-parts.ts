/** Executions that one step reads, so that others do not wait long for the thread that reads them. */
const executionsAtOnce = 20_000

/** Ids of runs in parts with about as many executions; a larger run is a part of its own. */
export function* inParts(runs: readonly { runId: number; total: number }[]): Generator<number[]> {
  let part: number[] = []
  let executions = 0
  for (const { runId, total } of runs) {
    if (part.length > 0 && executions + total > executionsAtOnce) {
      yield part
      part = []
      executions = 0
    }
    part.push(runId)
    executions += total
  }
  if (part.length > 0) yield part
}
