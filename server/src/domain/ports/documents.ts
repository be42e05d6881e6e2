import type { DeviceExecution } from '../device-report.ts'

/** What devices get of the versions of jobs, as JSON text; at once where it is in memory. */
export type Documents = {
  get(jobVersion: number): string | Promise<string>
  /** What its authors have signed, as fields of JSON text behind a comma; empty if nothing. */
  signed(jobVersion: number): string | Promise<string>
}

export type JobText = { document: string | undefined; signed?: string | undefined }

/** An execution with its document and what its authors have signed, if requested. */
export type WithDocument = JobText & { execution: DeviceExecution }
