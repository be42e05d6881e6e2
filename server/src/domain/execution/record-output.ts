// Records a device's output by offset: each byte once, up to a limit; anything beyond is dropped and marked as cut.

import type { DeviceKey } from '../device/device-key.ts'
import type { ChangeSignal } from '../event/ports/change-signal.ts'
import { recordMasked } from '../secret/mask-reports.ts'
import { DeviceError } from './device-error.ts'
import { type OutputRequest, parseJobId, unknownExecution } from './device-request.ts'
import type { DailyOutput } from './ports/daily-output.ts'
import { type ReportDeps, unknownDevice } from './report-execution.ts'

export type OutputDeps = ReportDeps & {
  maxOutputBytes: number
  dailyOutput: DailyOutput
  /** Signals new output, by execution id. */
  outputs: ChangeSignal
}

/** `gap`: bytes before these are missing, and `length` is the expected offset. */
type KeptOutput = { length: number; cut: boolean; gap: boolean }

export async function recordOutput(
  deps: OutputDeps,
  device: DeviceKey,
  jobId: string,
  { attempt, offset, data }: OutputRequest,
): Promise<KeptOutput> {
  const jobExecutionId = parseJobId(jobId)
  const outcome = await recordMasked(deps, {
    kind: 'output',
    device,
    moment: deps.moment(),
    jobExecutionId,
    attempt,
    offset,
    data,
    maxBytes: deps.dailyOutput.take(device.ownerNo, data.length) ? deps.maxOutputBytes : 0,
    maxPieces: deps.quotas['output-pieces'],
  })
  switch (outcome.kind) {
    case 'output-kept':
      deps.outputs.notify([jobExecutionId])
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
