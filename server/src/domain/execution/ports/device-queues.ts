// What a device sees of its executions, and what it reports on them.

import type { WallInstant } from '../../common/instants.ts'
import type { DeviceKey } from '../../device/device-key.ts'
import type { WriteOptions } from '../../trigger/ports/write-options.ts'
import type {
  DeviceExecution,
  DeviceQueue,
  DeviceReport,
  OutputState,
  ReportOutcome,
} from '../device-report.ts'

export type DeviceQueueStore = {
  /** 'unchanged' where the mark of the queue is still `unlessMark`; undefined: no such device. */
  readQueues(
    wanted: (DeviceKey & { unlessMark?: number | undefined })[],
  ): Promise<(DeviceQueue | 'unchanged' | undefined)[]>
  /** Whether an execution of the device has not ended, also one that is not offered yet. */
  hasUnfinished(device: DeviceKey): Promise<boolean>
  getDeviceExecution(execution: DeviceKey & { jobExecutionId: number }): Promise<DeviceExecution | undefined>
  /** Each on its own; one that is refused does not hinder the others. */
  recordReports(reports: DeviceReport[], options?: WriteOptions): Promise<ReportOutcome[]>
  /** Of the newest attempt. `received`: how many bytes its device has sent; `pieces`: how many pieces that were. */
  getOutputState(execution: {
    jobExecutionId: number
  }): Promise<(Omit<OutputState, 'jobExecutionId'> & { pieces: number }) | undefined>
  /** Of these, what was started at that instant and still runs: its own timeout is due later. */
  delayTimeouts(delay: { jobExecutionIds: number[]; startedAt: WallInstant; byMs: number }): Promise<void>
  /** Notes when executions were handed to a connection, and when a device confirmed that it has them. */
  recordDeliveries(deliveries: { notified: number[]; delivered: number[]; at: number }): Promise<void>
}
