// Records a report of a hawkBit device by the same domain functions as for other devices.

import type { DeviceKey } from '../../../domain/device/device-key.ts'
import type { DeviceExecution } from '../../../domain/execution/device-report.ts'
import type { UpdateRequest } from '../../../domain/execution/device-request.ts'
import { recordUpdate, updatedBy } from '../../../domain/execution/report-execution.ts'
import type { DdiDeps } from './ddi-deps.ts'
import { shortDetails } from './parse-feedback.ts'

type DdiReport = Pick<UpdateRequest, 'status' | 'statusDetails' | 'attempt'> & { clientToken?: string }

/** Returns the updated execution. Throws DeviceError. */
export async function report(
  deps: DdiDeps,
  device: DeviceKey,
  jobId: string,
  { clientToken, ...fields }: DdiReport,
): Promise<DeviceExecution> {
  const request: UpdateRequest = {
    ...fields,
    ...{ clientToken, wantsState: true, wantsDocument: false },
    ...{ stepTimeout: undefined, result: undefined, expectedVersion: undefined },
  }
  const outcome = await recordUpdate(deps, device, jobId, request, shortDetails)
  const updated = await updatedBy(deps, device, jobId, request, outcome)
  if (updated === undefined) throw new Error('a report that asks for the state gets it')
  return updated.execution
}
