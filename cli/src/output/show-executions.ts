// Executions as tables and fields, or as JSON.

import { type ExecState, type Execution, type Explanation, isEnd, type Transition } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import type { OwnerContext } from '../define/owner-command.ts'
import { elapsedText } from '../flags/wait-time.ts'
import { maxPageSize, takeItems } from '../service/take-items.ts'
import { paintState } from './colors.ts'
import { localTime } from './local-time.ts'
import type { Out } from './out.ts'
import { type Column, fieldsText } from './print-table.ts'
import { reasonOf } from './progress.ts'

export type ListFlags = {
  job?: string
  device?: string
  state?: ExecState[]
  run?: number
  since?: string
  finishedSince?: string
  limit: number
}

export async function listExecutions({ client, out }: OwnerContext, flags: ListFlags): Promise<void> {
  const { job, device, state, run, since, finishedSince, limit } = flags
  const list = client.executions.list({
    jobName: job,
    deviceId: device,
    execState: state,
    runId: run,
    launchedAfter: since,
    finishedAfter: finishedSince,
    limit: Math.min(limit, maxPageSize),
  })
  const { items, hasMore } = await takeItems(list, limit)
  out.showTable(items, executionColumns)
  if (hasMore) out.say(`More executions exist; raise --limit (${limit}) to see them.`)
}

/** The explanation, if given, is part of the JSON. */
export function showExecution(out: Out, execution: Execution, explanation?: Explanation): void {
  const { statusDetails, result, outputBytes } = execution
  const reason = unsuccessfulReason(execution)
  const hasResult = result !== null && result !== undefined
  out.show(explanation ? { ...execution, explanation } : execution, () =>
    fieldsText(
      {
        execution: execution.jobExecutionId,
        run: execution.runId,
        job: execution.jobName,
        device:
          execution.deviceName === execution.deviceId
            ? execution.deviceId
            : `${execution.deviceId} (${execution.deviceName})`,
        state: execution.execState,
        ...(explanation && { why: explanation.text }),
        ...(reason !== null && { reason }),
        attempt: execution.attempt,
        ...(execution.priority !== 5 && { priority: execution.priority }),
        launched: localTime(execution.launchedAt),
        notified: localTime(execution.notifiedAt),
        delivered: localTime(execution.deliveredAt),
        started: localTime(execution.startedAt),
        finished: localTime(execution.finishedAt),
        ...(execution.notBefore !== null && { 'not before': localTime(execution.notBefore) }),
        ...(Object.keys(statusDetails).length > 0 && { details: JSON.stringify(statusDetails) }),
        ...(hasResult && { result: JSON.stringify(result) }),
        ...(outputBytes > 0 && { output: `${outputBytes} bytes${execution.outputCut ? ', truncated' : ''}` }),
      },
      out.paint,
    ),
  )
}

/** Shows what the device reported in each attempt; for the last step also the meaning of its state. */
export function showHistory(out: Out, steps: readonly Transition[], execution: Execution): void {
  const reason = unsuccessfulReason(execution)
  const lastVersion = steps.at(-1)?.versionNumber
  out.showTable(steps, [
    ...stepColumns,
    {
      title: 'REASON',
      of: ({ to, versionNumber, reason: reported }) =>
        reported ?? (versionNumber === lastVersion && isEnd(to) ? reason : null),
    },
  ])
}

/** Null unless the execution has ended otherwise than SUCCEEDED. */
function unsuccessfulReason(execution: Execution): string | null {
  const { execState } = execution
  return isEnd(execState) && execState !== 'SUCCEEDED' ? reasonOf(execution) || null : null
}

const executionColumns: Column<Execution>[] = [
  { title: 'EXECUTION', of: ({ jobExecutionId }) => jobExecutionId },
  { title: 'RUN', of: ({ runId }) => runId },
  { title: 'JOB', of: ({ jobName }) => jobName },
  { title: 'DEVICE', of: ({ deviceId }) => deviceId },
  {
    title: 'STATE',
    of: ({ execState }) => execState,
    paint: (text, { execState }, paint) => paintState(paint, execState, text),
  },
  { title: 'ATTEMPT', of: ({ attempt }) => attempt },
  { title: 'LAUNCHED', of: ({ launchedAt }) => localTime(launchedAt) },
  { title: 'FINISHED', of: ({ finishedAt }) => localTime(finishedAt) },
  { title: 'TOOK', of: tookText },
  { title: 'DETAILS', of: (execution) => reasonOf(execution) },
]

/** The time so far for a running execution, which is approximate: the clocks of service and machine may differ. */
function tookText({ startedAt, finishedAt }: Execution): string | null {
  if (startedAt === null) return null
  const until = finishedAt === null ? Date.now() : Date.parse(finishedAt)
  return elapsedText(Math.max(0, until - Date.parse(startedAt)))
}

const stepColumns: Column<Transition>[] = [
  { title: 'AT', of: ({ at }) => localTime(at) },
  { title: 'FROM', of: ({ from }) => from },
  { title: 'TO', of: ({ to }) => to, paint: (text, { to }, paint) => paintState(paint, to, text) },
  { title: 'CAUSE', of: ({ event }) => event },
  { title: 'BY', of: ({ actor, actorName }) => whoInWords(actor, actorName) },
  { title: 'ATTEMPT', of: ({ attempt }) => attempt },
]
