// Translates feedback on an action into a report of its execution.

import type { ReportedStatus } from '@jobcast/contract'
import { StorageUnavailable } from '../../../domain/common/ports/storage-errors.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { cancelByDevice, refuseCancel } from '../../../domain/execution/device-cancel.ts'
import { DeviceError } from '../../../domain/execution/device-error.ts'
import type { DeviceExecution } from '../../../domain/execution/device-report.ts'
import { recordOutput } from '../../../domain/execution/record-output.ts'
import type { DdiDeps } from './ddi-deps.ts'
import { findUnfinished } from './deployment.ts'
import { notFound } from './errors.ts'
import { detailsOf, type Feedback, parseFeedback } from './parse-feedback.ts'
import { report } from './report.ts'

type Fields = Record<string, unknown>

export async function takeFeedback(
  deps: DdiDeps,
  device: DeviceKey,
  jobId: string,
  fields: Fields,
): Promise<void> {
  const feedback = parseFeedback(fields)
  const execution = await findUnfinished(deps, device, jobId)
  const status = statusOf(feedback)
  if (status === 'IN_PROGRESS') return progress(deps, device, execution, feedback)
  await appendLastLines(deps, device, execution, feedback)
  if (status === 'CANCELED' && execution.execState !== 'CANCELING') {
    await cancelByDevice(deps, { ...device, jobExecutionId: execution.jobExecutionId })
  } else {
    await end(deps, device, execution, feedback, status)
  }
  deps.ddi.known.ended(device, status === 'SUCCEEDED' ? execution.jobExecutionId : undefined)
}

/** Feedback on a cancel request, which stays open until it is closed or rejected. */
export async function takeCancelFeedback(
  deps: DdiDeps,
  device: DeviceKey,
  jobId: string,
  fields: Fields,
): Promise<void> {
  const feedback = parseFeedback(fields)
  const execution = await findUnfinished(deps, device, jobId)
  if (execution.execState !== 'CANCELING') throw notFound('The execution is not being canceled.')
  switch (feedback.execution) {
    case 'closed':
    case 'canceled':
      await appendLastLines(deps, device, execution, feedback)
      await end(deps, device, execution, feedback, 'CANCELED')
      deps.ddi.known.ended(device, undefined)
      return
    case 'rejected':
      await appendOutput(deps, device, execution, feedback)
      await refuseCancel(deps, { ...device, jobExecutionId: execution.jobExecutionId })
      return
    default:
      await appendOutput(deps, device, execution, feedback)
  }
}

function statusOf({ execution, finished }: Feedback): ReportedStatus {
  switch (execution) {
    case 'closed':
      // As in hawkBit, `closed` means success unless the result is `failure`.
      return finished === 'failure' ? 'FAILED' : 'SUCCEEDED'
    case 'rejected':
      return 'REJECTED'
    case 'canceled':
      return 'CANCELED'
    default:
      return 'IN_PROGRESS'
  }
}

/** A repeated report leaves the version unchanged: then its lines are already in the output. */
async function progress(
  deps: DdiDeps,
  device: DeviceKey,
  before: DeviceExecution,
  feedback: Feedback,
): Promise<void> {
  const { attempt, jobExecutionId, versionNumber } = before
  const { mark: clientToken } = feedback
  const sent = { status: 'IN_PROGRESS' as const, statusDetails: detailsOf(feedback), attempt, clientToken }
  const after = await report(deps, device, String(jobExecutionId), sent)
  if (after.versionNumber !== versionNumber) await appendOutput(deps, device, after, feedback)
}

/**
 * hawkBit has no attempts. A repeated report that ended one attempt must not end the next one, which the device has not begun. But
 * every attempt that it has begun may end with an identical report, even if that is the attempt's only report.
 */
async function end(
  deps: DdiDeps,
  device: DeviceKey,
  execution: DeviceExecution,
  feedback: Feedback,
  status: ReportedStatus,
): Promise<void> {
  const { jobExecutionId, attempt, execState } = execution
  const sent = { status, statusDetails: detailsOf(feedback), clientToken: feedback.mark }
  const isBegun = attempt === 1 || execState !== 'PENDING' || deps.ddi.known.hasBegun(device, execution)
  const send = (of: number) => report(deps, device, String(jobExecutionId), { ...sent, attempt: of })
  if (!isBegun && (await isAccepted(() => send(attempt - 1)))) return
  await send(attempt)
}

/** A report of a past attempt is accepted only if it repeats one that was accepted. */
async function isAccepted(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send()
    return true
  } catch (error) {
    if (error instanceof DeviceError && error.code === 'ResourceNotFound') return false
    throw error
  }
}

/** Without storage for the output, the end is still recorded; its lines are in statusDetails as well. */
async function appendLastLines(
  deps: DdiDeps,
  device: DeviceKey,
  execution: DeviceExecution,
  feedback: Feedback,
): Promise<void> {
  try {
    await appendOutput(deps, device, execution, feedback)
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error
  }
}

/** Skipped for a retry that has not started: the lines may belong to the previous attempt. */
async function appendOutput(
  deps: DdiDeps,
  device: DeviceKey,
  { jobExecutionId, attempt, execState }: DeviceExecution,
  { details }: Feedback,
): Promise<void> {
  if (details.length === 0 || (execState === 'PENDING' && attempt > 1)) return
  const data = Buffer.from(details.map((line) => `${line}\n`).join(''))
  await recordOutput(deps, device, String(jobExecutionId), { attempt, offset: 'end', data })
}
