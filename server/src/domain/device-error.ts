import type { DeviceErrorCode } from '@jobcast/contract'
import type { DeviceExecution } from './device-report.ts'

/** Something a device can act on. Anything else that is thrown while one is served is our fault. */
export class DeviceError extends Error {
  readonly code: DeviceErrorCode
  /** As it is, for a device whose idea of it is another. */
  readonly execution: DeviceExecution | undefined

  constructor(code: DeviceErrorCode, message: string, execution?: DeviceExecution) {
    super(message)
    this.name = 'DeviceError'
    this.code = code
    this.execution = execution
  }
}
