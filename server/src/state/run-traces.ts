// Traces from a trigger to the report of a device. A run stores the traceparent of its trigger; spans are created only if
// they are exported.

import { randomBytes } from 'node:crypto'
import type { Store } from '../domain/common/ports/store.ts'
import type { RunTraces as RunTracesPort, TriggerSpan } from '../domain/event/ports/traces.ts'
import { isSampled, parseTraceParent, traceParentText } from '../domain/event/trace-parent.ts'
import type { DeviceExecution } from '../domain/execution/device-report.ts'
import { isTerminal } from '../domain/execution/execution.ts'
import type { Moved } from '../domain/execution/ports/executions.ts'

export type Span = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: 'server' | 'consumer'
  startedAt: number
  endedAt: number
  attributes: Record<string, string | number>
  /** Why the operation was unsuccessful. */
  error?: string
}

export type ExportSpan = (span: Span) => void

export class RunTraces implements RunTracesPort {
  readonly #store: Pick<Store, 'setRunTrace'>
  readonly #now: () => number
  readonly #export: ExportSpan | undefined

  constructor(store: Pick<Store, 'setRunTrace'>, now: () => number, exportSpan: ExportSpan | undefined) {
    this.#store = store
    this.#now = now
    this.#export = exportSpan
  }

  begin(given: string): TriggerSpan | undefined {
    const parent = parseTraceParent(given)
    if (parent === undefined) return undefined
    const exportSpan = this.#export
    if (exportSpan === undefined || !isSampled(parent)) return { traceParent: given, end: () => undefined }
    const startedAt = this.#now()
    const spanId = newSpanId()
    const { traceId, spanId: parentSpanId } = parent
    return {
      traceParent: traceParentText({ ...parent, spanId }),
      end: ({ runId, jobName, devices }) =>
        exportSpan({
          ...{ traceId, spanId, parentSpanId, name: 'trigger', kind: 'server' },
          ...{ startedAt, endedAt: this.#now() },
          attributes: {
            'jobcast.run_id': runId,
            'jobcast.job_name': jobName,
            'jobcast.devices': devices.length,
          },
        }),
    }
  }

  async keep(run: { ownerNo: number; runId: number; traceParent: string }): Promise<void> {
    await this.#store.setRunTrace(run).catch(() => undefined)
  }

  /** The device has reported the end of an execution. */
  ended(jobName: string, execution: DeviceExecution, { deviceId, runId, execState }: Moved): void {
    const parent = this.#export && parseTraceParent(execution.traceParent)
    if (parent === undefined || !isSampled(parent) || !isTerminal(execState)) return
    const { jobExecutionId, attempt, startedAt, launchedAt, updatedAt, statusDetails } = execution
    this.#export?.({
      ...{ traceId: parent.traceId, spanId: newSpanId(), parentSpanId: parent.spanId },
      ...{ name: 'execution', kind: 'consumer', startedAt: startedAt ?? launchedAt, endedAt: updatedAt },
      attributes: {
        'jobcast.run_id': runId,
        'jobcast.job_name': jobName,
        'jobcast.job_execution_id': jobExecutionId,
        'jobcast.device_id': deviceId,
        'jobcast.exec_state': execState,
        'jobcast.attempt': attempt,
      },
      ...(execState !== 'SUCCEEDED' && { error: statusDetails.reason ?? execState }),
    })
  }
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}
