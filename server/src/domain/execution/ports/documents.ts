import type { DocumentTemplate, ParameterSchema } from '@jobcast/contract/parameters'
import type { DeviceKey } from '../../device/device-key.ts'

/** A version of a job, ready to be handed out. */
export type JobTemplate = {
  /** As it was put, JSON text. */
  document: string
  schema: ParameterSchema | undefined
  /** Undefined: the document has no placeholders and is the same for everybody. */
  template: DocumentTemplate | undefined
  /** Those that it names, NAME or NAME@VERSION. */
  files?: readonly string[]
}

/**
 * What a device gets, as JSON text. `parameters`: those of a job that declares some, secrets included. `secrets`: the named
 * ones that its document uses. `files`: what there is to know about those that it names. `signed`: what its authors have signed, as fields behind a comma.
 */
export type DeviceDocument = {
  readonly json: string
  readonly parameters?: string
  readonly secrets?: string
  readonly files?: string
  readonly signed?: string
}

export type HandedOut = { jobVersion: number; runId: number }

/** The document needs attributes that the device does not have any more, or secrets or files that were deleted. */
export class UnresolvedDocument extends Error {
  override readonly name = 'UnresolvedDocument'
}

/** At once where it is in memory: a promise per device would slow down a fan-out. */
export type Documents = {
  content(jobVersion: number): JobTemplate | Promise<JobTemplate>
  /** Throws or rejects with an UnresolvedDocument. */
  of(execution: HandedOut, device: DeviceKey): DeviceDocument | Promise<DeviceDocument>
}
