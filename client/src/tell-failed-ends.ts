// Tells of the executions of a run that do not succeed, each once, as they end.

import type { ExecutionEventType } from './event.ts'
import { failedEnds, isFailedEnd } from './exec-state.ts'
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

const types = failedEnds.map((state) => `execution.${state.toLowerCase()}` as ExecutionEventType)

export type FailedEnds = {
  /** Of a run that has finished: tells what has not been told. */
  finish(run: Run): Promise<void>
}

/**
 * Events say it as it happens. What ended before the stream stood is looked up once it stands, and what the stream
 * did not bring by the end of the run is looked up then. So the stream may fail: it only makes it sooner.
 */
export function tellFailedEnds(
  transport: Transport,
  runId: number,
  onEnded: (execution: EndedExecution) => void,
  life: LinkedAbort,
): FailedEnds {
  const { signal } = life
  const told = new Set<number>()
  const tell = (execution: EndedExecution) => {
    if (told.has(execution.jobExecutionId) || signal.aborted) return
    told.add(execution.jobExecutionId)
    try {
      onEnded(execution)
    } catch (error) {
      life.abort(error) // so that whoever waits learns of it
    }
  }
  const lookUp = async () => {
    for (const execState of failedEnds) {
      const query = { runId, execState, limit: 200 }
      for await (const execution of new List<Execution>(transport, '/job/api/executions', query, {
        signal,
      })) {
        tell(execution)
      }
    }
  }
  const follow = async () => {
    const onOpen = () => void lookUp().catch(() => {})
    for await (const { data } of followEvents(transport, { runId, types, signal, onOpen })) {
      if ('jobExecutionId' in data && isFailedEnd(data.execState)) tell(data)
    }
  }
  void follow().catch(() => {})
  return {
    async finish({ counts }) {
      const failed = failedEnds.reduce((sum, state) => sum + counts[state], 0)
      if (told.size < failed) await lookUp()
    },
  }
}
