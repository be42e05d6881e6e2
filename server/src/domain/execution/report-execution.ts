// The four operations of the device protocol on executions, shared by all transports.

import { describeQuota, type Quotas } from '../access/quotas.ts'
import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from '../device/device-key.ts'
import { reportQuotasOf } from '../event/progress-events.ts'
import { type MaskDeps, recordMasked, type ShortenDetails } from '../secret/mask-reports.ts'
import { DeviceError } from './device-error.ts'
import type { DeviceExecution, DeviceQueue, ReportOutcome } from './device-report.ts'
import {
  type DescribeRequest,
  parseJobId,
  type StartNextRequest,
  type UpdateRequest,
  unknownExecution,
} from './device-request.ts'
import { endUnresolved } from './end-unresolved.ts'
import { isTerminal, type Moment } from './execution.ts'
import { type NotifyDeps, notifyMoved } from './notify-moved.ts'
import { type DeviceDocument, type Documents, UnresolvedDocument } from './ports/documents.ts'

export type ReportDeps = NotifyDeps &
  MaskDeps & {
    store: Store
    moment: () => Moment
    documents: Documents
    quotas: Quotas
  }

/** An execution with its document if requested. */
export type WithDocument = { execution: DeviceExecution; document: DeviceDocument | undefined }

export async function readPending(deps: ReportDeps, device: DeviceKey): Promise<DeviceQueue> {
  const [queue] = await deps.store.readQueues([device])
  if (queue === undefined || queue === 'unchanged') throw unknownDevice()
  return queue
}

/** Undefined: nothing is pending. */
export async function startNext(
  deps: ReportDeps,
  device: DeviceKey,
  { statusDetails, stepTimeout }: StartNextRequest,
): Promise<WithDocument | undefined> {
  const moment = deps.moment()
  const report = { kind: 'start-next' as const, device, moment, statusDetails, stepTimeout }
  const outcome = await recordMasked(deps, report)
  if (outcome.kind === 'nothing-pending') return undefined
  return withDocument(deps, device, doneBy(deps, outcome, '$next'), true)
}

/** Undefined: `$next` was requested and nothing is pending. */
export async function describeExecution(
  deps: ReportDeps,
  device: DeviceKey,
  jobId: string,
  { attempt, wantsDocument }: DescribeRequest,
): Promise<WithDocument | undefined> {
  if (jobId === '$next') {
    const [next] = (await readPending(deps, device)).executions
    return next && withDocument(deps, device, next, wantsDocument)
  }
  const execution = await deps.store.getDeviceExecution({ ...device, jobExecutionId: parseJobId(jobId) })
  if (execution === undefined || (attempt !== undefined && attempt !== execution.attempt)) {
    throw unknownExecution(jobId)
  }
  if (isTerminal(execution.execState)) {
    throw new DeviceError('TerminalStateReached', `The execution has ended: ${execution.execState}.`)
  }
  return withDocument(deps, device, execution, wantsDocument)
}

/** Resolves once the report is on disk; `updatedBy` turns the outcome into a response. Most outcomes are of progress. */
export function recordUpdate(
  deps: ReportDeps,
  device: DeviceKey,
  jobId: string,
  request: UpdateRequest,
  shorten?: ShortenDetails,
): Promise<ReportOutcome> {
  const { status, statusDetails, result, expectedVersion, attempt, stepTimeout, clientToken } = request
  const { wantsState, wantsDocument } = request
  const report = {
    kind: 'update' as const,
    device,
    moment: deps.moment(),
    jobExecutionId: parseJobId(jobId),
    status,
    statusDetails,
    result,
    expectedVersion,
    attempt,
    stepTimeout,
    clientToken,
    quotas: reportQuotasOf(deps.quotas),
    isBrief: !wantsState && !wantsDocument,
  }
  return recordMasked(deps, report, shorten)
}

/** Undefined: progress was stored, and the request asks for nothing more. */
export function updatedBy(
  deps: ReportDeps,
  device: DeviceKey,
  jobId: string,
  { wantsDocument }: UpdateRequest,
  outcome: ReportOutcome,
): Promise<WithDocument> | WithDocument | undefined {
  if (outcome.kind === 'noted') return undefined
  const execution = doneBy(deps, outcome, jobId)
  return wantsDocument ? withDocument(deps, device, execution, true) : { execution, document: undefined }
}

/** Turns an outcome into the execution or an error, and sends the notifications about its move. */
function doneBy(deps: ReportDeps, outcome: ReportOutcome, jobId: string): DeviceExecution {
  switch (outcome.kind) {
    case 'done':
      if (outcome.moved) notifyMoved(deps, [outcome.moved])
      return outcome.execution
    case 'unknown-device':
      throw unknownDevice()
    case 'unknown-execution':
      throw unknownExecution(jobId)
    case 'wrong-version': {
      const { versionNumber } = outcome.execution
      throw new DeviceError('VersionMismatch', `The current version is ${versionNumber}.`, outcome.execution)
    }
    case 'wrong-state': {
      const { execState } = outcome.execution
      throw new DeviceError('InvalidStateTransition', `The execution is ${execState}.`, outcome.execution)
    }
    case 'over-quota':
      // Not throttled: a repetition would be refused as well.
      throw new DeviceError(
        'InvalidRequest',
        `Quota exceeded: ${describeQuota(outcome.quota, deps.quotas[outcome.quota])}.`,
      )
    default:
      throw new Error(`a report cannot result in ${outcome.kind}`)
  }
}

async function withDocument(
  deps: ReportDeps,
  device: DeviceKey,
  execution: DeviceExecution,
  wanted: boolean,
): Promise<WithDocument> {
  if (!wanted) return { execution, document: undefined }
  try {
    return { execution, document: await deps.documents.of(execution, device) }
  } catch (error) {
    if (!(error instanceof UnresolvedDocument)) throw error
    const { jobExecutionId } = execution
    await endUnresolved(deps, { ...device, jobExecutionId, missing: error.message })
    throw new DeviceError('TerminalStateReached', `The document cannot be resolved: ${error.message}.`)
  }
}

export function unknownDevice(): DeviceError {
  return new DeviceError('ResourceNotFound', 'Unknown device.')
}
