import type { DocumentTemplate, ParameterSchema } from '@jobcast/contract/parameters'
import type { DeviceKey } from '../../device/device-key.ts'

/** The document of a job version, parsed for handing out. */
export type JobTemplate = {
  /** As put, JSON text. */
  document: string
  schema: ParameterSchema | undefined
  /** Undefined: the document has no placeholders and is the same for all devices. */
  template: DocumentTemplate | undefined
  /** The files that it names, as NAME or NAME@VERSION. */
  files?: readonly string[]
}

/**
 * What a device gets, as JSON text. `parameters`: of a job that declares some, including secrets. `secrets`: the named
 * secrets that the document uses. `files`: metadata of the files that it names. `ownUrls`: URLs of this service for those files whose
 * URL is of the bucket. `signed`: what its authors have signed, as fields after a comma.
 */
export type DeviceDocument = {
  readonly json: string
  readonly parameters?: string
  readonly secrets?: string
  readonly files?: string
  readonly ownUrls?: Readonly<Record<string, string>>
  readonly signed?: string
}

export type HandedOut = { jobVersion: number; runId: number }

/** The document needs attributes that the device no longer has, or secrets or files that were deleted. */
export class UnresolvedDocument extends Error {
  override readonly name = 'UnresolvedDocument'
}

/** Synchronous if cached: a promise per device would slow down a fan-out. */
export type Documents = {
  content(jobVersion: number): JobTemplate | Promise<JobTemplate>
  /** Throws or rejects with an UnresolvedDocument. */
  of(execution: HandedOut, device: DeviceKey): DeviceDocument | Promise<DeviceDocument>
}
