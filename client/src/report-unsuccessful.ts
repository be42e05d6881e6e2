// Reports the unsuccessful executions of a run, each once, as they end.

import type { EventTypeOf } from './event.ts'
import { isUnsuccessfulEnd, unsuccessfulEnds } from './exec-state.ts'
import { followEvents } from './follow-events.ts'
import type { LinkedAbort } from './linked-abort.ts'
import { List } from './list.ts'
import type { Execution, Run } from './schemas.ts'
import type { Transport } from './transport.ts'

export type EndedExecution = Pick<
  Execution,
  | 'jobExecutionId'
  | 'runId'
  | 'jobName'
  | 'deviceId'
  | 'execState'
  | 'attempt'
  | 'versionNumber'
  | 'statusDetails'
>

const types = unsuccessfulEnds.map((state) => `execution.${state.toLowerCase()}` as EventTypeOf<'execution'>)

type UnsuccessfulReports = {
  /** Call when the run has finished: reports the remaining ones. */
  finish(run: Run): Promise<void>
}

/**
 * Events report ends as they happen. Executions that ended before the stream was open are listed once it is, and any that
 * are missing at the end of the run are listed then. So the stream may fail: it only makes reports earlier.
 */
export function reportUnsuccessful(
  transport: Transport,
  runId: number,
  onEnded: (execution: EndedExecution) => void,
  life: LinkedAbort,
): UnsuccessfulReports {
  const { signal } = life
  const reported = new Set<number>()
  const report = (execution: EndedExecution) => {
    if (reported.has(execution.jobExecutionId) || signal.aborted) return
    reported.add(execution.jobExecutionId)
    try {
      onEnded(execution)
    } catch (error) {
      life.abort(error) // rejects the wait with the callback's error
    }
  }
  const lookUp = async () => {
    for (const execState of unsuccessfulEnds) {
      const query = { runId, execState, limit: 200 }
      for await (const execution of new List<Execution>(transport, '/job/api/executions', query, {
        signal,
      })) {
        report(execution)
      }
    }
  }
  const follow = async () => {
    const onOpen = () => void lookUp().catch(() => {})
    for await (const { data } of followEvents(transport, { runId, types, signal, onOpen })) {
      if ('jobExecutionId' in data && isUnsuccessfulEnd(data.execState)) report(data)
    }
  }
  void follow().catch(() => {})
  return {
    async finish({ counts }) {
      const unsuccessful = unsuccessfulEnds.reduce((sum, state) => sum + counts[state], 0)
      if (reported.size < unsuccessful) await lookUp()
    },
  }
}
