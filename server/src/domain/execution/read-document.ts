// The document of an execution as its device gets it, with placeholders filled in, but secrets masked.

import { ApiError } from '@jobcast/contract'
import {
  fileValues,
  maskedValues,
  namesUsed,
  placeholderText,
  resolveDocument,
} from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import { shownObjects } from '../file/bucket-object.ts'
import { readShownFiles } from '../file/file-links.ts'
import type { Documents } from './ports/documents.ts'

export type ReadDocumentDeps = {
  store: Pick<Store, 'getExecution' | 'getRun' | 'listDeviceValues' | 'findFiles'>
  documents: Pick<Documents, 'content'>
}

/** Uses the device's current attributes. */
export async function readDocument(
  { store, documents }: ReadDocumentDeps,
  { ownerNo }: Caller,
  jobExecutionId: number,
): Promise<unknown> {
  const execution = await store.getExecution({ ownerNo, jobExecutionId })
  const run = execution && (await store.getRun({ ownerNo, runId: execution.runId }))
  if (run === undefined) throw notFound('J-302', jobExecutionId)
  const { document, template, files: refs } = await documents.content(run.jobVersion)
  if (template === undefined) return JSON.parse(document)
  const { deviceId, deviceName } = execution as { deviceId: string; deviceName: string }
  const names = namesUsed(template, 'attributes')
  const [found] = await store.listDeviceValues({ ownerNo, deviceIds: [deviceId], names })
  const device = found ?? { deviceId, deviceName, attributes: {} }
  const secrets = maskedValues(template)
  const files = fileValues(await readShownFiles(store, ownerNo, refs))
  const values = {
    params: run.parameters,
    secrets,
    files,
    objects: shownObjects(template),
    device,
    run: { runId: run.runId },
  }
  const resolved = resolveDocument(JSON.parse(document), values)
  if (resolved.missing.length === 0) return resolved.document
  const missing = resolved.missing.map(placeholderText).join(', ')
  throw new ApiError('J-506', { deviceIds: [deviceId], detail: `There is no value for ${missing}.` })
}
