// Output of a device, by offset: each byte is kept once, up to a set size; what comes after it is dropped, and the
// cut is marked.

import { DeviceError } from './device-error.ts'
import { type OutputRequest, parseJobId, unknownExecution } from './device-request.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import type { DeviceKey } from './ports/devices.ts'
import { type ReportDeps, unknownDevice } from './report-execution.ts'

export type OutputDeps = ReportDeps & {
  maxOutputBytes: number
  /** Told, by the execution's id, when there is more output. */
  outputs: ChangeSignal
}

/** `gap`: bytes before these are missing, and `length` is the offset that is wanted. */
export type KeptOutput = { length: number; cut: boolean; gap: boolean }

export async function recordOutput(
  deps: OutputDeps,
  device: DeviceKey,
  jobId: string,
  { attempt, offset, data }: OutputRequest,
): Promise<KeptOutput> {
  const jobExecutionId = parseJobId(jobId)
  const outcome = await deps.recordReport({
    kind: 'output',
    device,
    moment: deps.moment(),
    jobExecutionId,
    attempt,
    offset,
    data,
    maxBytes: deps.maxOutputBytes,
  })
  switch (outcome.kind) {
    case 'output-kept':
      deps.outputs.tell([jobExecutionId])
      return { length: outcome.length, cut: outcome.cut, gap: false }
    case 'output-gap':
      return { length: outcome.length, cut: false, gap: true }
    case 'unknown-device':
      throw unknownDevice()
    case 'wrong-state':
      throw new DeviceError(
        'InvalidStateTransition',
        `The execution is ${outcome.execution.execState}.`,
        outcome.execution,
      )
    default:
      throw unknownExecution(jobId)
  }
}
