// The deployment to install, with the document's files as one chunk; the installed one; and the execution to cancel.

import type { DeviceKey } from '../../../domain/device/device-key.ts'
import type { DeviceExecution } from '../../../domain/execution/device-report.ts'
import { parseJobId, unknownExecution } from '../../../domain/execution/device-request.ts'
import { isTerminal } from '../../../domain/execution/execution.ts'
import { type DeviceDocument, UnresolvedDocument } from '../../../domain/execution/ports/documents.ts'
import { describeExecution } from '../../../domain/execution/report-execution.ts'
import { chunkOf } from './chunk.ts'
import type { DdiDeps } from './ddi-deps.ts'
import { linksFor } from './download-link.ts'
import { gone, notFound } from './errors.ts'

type Asked = { device: DeviceKey; tenant: string; jobId: string }

export async function readDeployment(deps: DdiDeps, { device, tenant, jobId }: Asked): Promise<object> {
  const wanted = { attempt: undefined, wantsDocument: true }
  const found = await describeExecution(deps, device, parsed(jobId), wanted)
  const { execution, document } = found ?? {}
  if (execution === undefined || document?.files === undefined)
    throw notFound('There are no files to install.')
  if (execution.execState === 'CANCELING') throw notFound('The execution is being canceled.')
  deps.ddi.known.begun(device, execution)
  return deploymentJson(deps, { device, tenant }, execution, document)
}

/** Only for an execution that has succeeded, as long as its files exist. */
export async function readInstalled(deps: DdiDeps, { device, tenant, jobId }: Asked): Promise<object> {
  const execution = await findExecution(deps, device, jobId)
  if (execution.execState !== 'SUCCEEDED') throw notFound('The execution has not succeeded.')
  try {
    const document = await deps.documents.of(execution, device)
    return await deploymentJson(deps, { device, tenant }, execution, document)
  } catch (error) {
    if (error instanceof UnresolvedDocument) throw notFound('Its files do not exist any more.')
    throw error
  }
}

export async function readCancel(deps: DdiDeps, device: DeviceKey, jobId: string): Promise<object> {
  const { execState, jobExecutionId } = await findUnfinished(deps, device, jobId)
  if (execState !== 'CANCELING') throw notFound('The execution is not being canceled.')
  const id = String(jobExecutionId)
  return { id, cancelAction: { stopId: id } }
}

/** Throws 410 if it has ended. */
export async function findUnfinished(
  deps: DdiDeps,
  device: DeviceKey,
  jobId: string,
): Promise<DeviceExecution> {
  const execution = await findExecution(deps, device, jobId)
  if (isTerminal(execution.execState)) throw gone(`The execution has ended: ${execution.execState}.`)
  return execution
}

async function findExecution(
  { store }: DdiDeps,
  { ownerNo, deviceId }: DeviceKey,
  jobId: string,
): Promise<DeviceExecution> {
  const jobExecutionId = parseJobId(jobId)
  const execution = await store.getDeviceExecution({ ownerNo, deviceId, jobExecutionId })
  if (execution === undefined) throw unknownExecution(jobId)
  return execution
}

/** Rejects `$next`, which is not an id in DDI. */
function parsed(jobId: string): string {
  return String(parseJobId(jobId))
}

async function deploymentJson(
  { store, ddi }: DdiDeps,
  { device, tenant }: Omit<Asked, 'jobId'>,
  { jobExecutionId, runId }: DeviceExecution,
  document: DeviceDocument,
): Promise<object> {
  const run = await store.getRun({ ownerNo: device.ownerNo, runId })
  return {
    id: String(jobExecutionId),
    deployment: {
      ...{ download: 'forced', update: 'forced' },
      // Outside of its window the execution is not offered at all.
      ...(run && run.window !== null && { maintenanceWindow: 'available' }),
      chunks: [chunkOf(document, linksFor(ddi.base(), tenant, device))],
    },
  }
}
