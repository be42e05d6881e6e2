import type { DeviceErrorCode } from '@jobcast/contract'
import type { DeviceExecution } from './device-report.ts'

/** An error that a device can act on. Anything else thrown while serving a device is an internal error. */
export class DeviceError extends Error {
  readonly code: DeviceErrorCode
  /** Its current state, for a device whose view is outdated. */
  readonly execution: DeviceExecution | undefined

  constructor(code: DeviceErrorCode, message: string, execution?: DeviceExecution) {
    super(message)
    this.name = 'DeviceError'
    this.code = code
    this.execution = execution
  }
}
