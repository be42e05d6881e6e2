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
  /** 'unchanged' if the mark of the queue is still `unlessMark`; undefined: no such device. */
  readQueues(
    wanted: (DeviceKey & { unlessMark?: number | undefined })[],
  ): Promise<(DeviceQueue | 'unchanged' | undefined)[]>
  /** Whether the device has an unfinished execution, including ones that are not offered yet. */
  hasUnfinished(device: DeviceKey): Promise<boolean>
  getDeviceExecution(execution: DeviceKey & { jobExecutionId: number }): Promise<DeviceExecution | undefined>
  /** Applies each report separately; a refused report does not affect the others. */
  recordReports(reports: DeviceReport[], options?: WriteOptions): Promise<ReportOutcome[]>
  /** For the newest attempt. `received`: bytes that the device has sent; `pieces`: in how many pieces. */
  getOutputState(execution: {
    jobExecutionId: number
  }): Promise<(Omit<OutputState, 'jobExecutionId'> & { pieces: number }) | undefined>
  /** Delays the timeout of those that were started at that instant and still run. */
  delayTimeouts(delay: { jobExecutionIds: number[]; startedAt: WallInstant; byMs: number }): Promise<void>
  /** Records when executions were handed to a connection, and when a device confirmed receipt. */
  recordDeliveries(deliveries: { notified: number[]; delivered: number[]; at: number }): Promise<void>
}
