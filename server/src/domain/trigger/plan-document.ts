// The document that a planned run would hand out, and the devices that lack values for it.

import type { NewRun } from '@jobcast/contract'
import {
  fileValues,
  maskedValues,
  maskSecrets,
  namesUsed,
  type ParameterValues,
  resolveDocument,
} from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import type { Store } from '../common/ports/store.ts'
import { shownObjects } from '../file/bucket-object.ts'
import { requireFiles } from '../file/file.ts'
import { readShownFiles } from '../file/file-links.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { requireSecrets } from '../secret/secret.ts'
import { listNosWithoutValues, listWithoutValues, missingValuesText } from './required-attributes.ts'
import { requireValues, templateOf, type ValuesDeps } from './run-values.ts'

export type PlanDocumentDeps = ValuesDeps & { store: Pick<Store, 'listDeviceValues' | 'findFiles'> }
/** The devices of the run. */
type LeftDevices = { deviceIds: string[] | undefined; deviceNos: Int32Array }
type Devices = { sample: string[]; deviceIds: string[] | undefined; deviceNos?: Int32Array }

/** Throws J-500 for invalid values, and J-318. */
export async function planDocument(
  deps: PlanDocumentDeps,
  { ownerNo }: Caller,
  job: StoredJobVersion,
  { parameters, onMissing }: Pick<NewRun, 'parameters' | 'onMissing'>,
  { sample, deviceIds, deviceNos = new Int32Array() }: Devices,
): Promise<{ document: unknown; problems: string[]; left: LeftDevices }> {
  await requireSecrets(deps, { ownerNo }, job.secrets)
  await requireFiles(deps, { ownerNo }, job.files)
  const values = maskSecrets(job.parameters, await requireValues(deps.ownerTurns, ownerNo, job, parameters))
  const nosWithoutValues = deviceIds
    ? undefined
    : await listNosWithoutValues(deps.store, ownerNo, job, deviceNos)
  const withoutValues = deviceIds
    ? await listWithoutValues(deps.store, ownerNo, job, deviceIds)
    : new Set(nosWithoutValues?.values())
  const first = sample.find((deviceId) => !withoutValues.has(deviceId))
  const document =
    first === undefined ? null : await documentFor(deps, { ownerNo, deviceId: first }, job, values)
  if (withoutValues.size === 0) return { document, problems: [], left: { deviceIds, deviceNos } }
  if (onMissing !== 'SKIP') {
    return { document, problems: [missingValuesText(withoutValues, job)], left: { deviceIds, deviceNos } }
  }
  const left = {
    deviceIds: deviceIds?.filter((deviceId) => !withoutValues.has(deviceId)),
    deviceNos: nosWithoutValues ? deviceNos.filter((deviceNo) => !nosWithoutValues.has(deviceNo)) : deviceNos,
  }
  return {
    document,
    problems: [`${missingValuesText(withoutValues, job)} Devices without them are skipped.`],
    left,
  }
}

/** The run has no id yet, so its id is 0 here. */
async function documentFor(
  { store }: PlanDocumentDeps,
  { ownerNo, deviceId }: { ownerNo: number; deviceId: string },
  job: StoredJobVersion,
  params: ParameterValues,
): Promise<unknown> {
  const template = templateOf(job)
  if (template === undefined) return job.document
  const names = namesUsed(template, 'attributes')
  const [device] = await store.listDeviceValues({ ownerNo, deviceIds: [deviceId], names })
  if (device === undefined) return null
  const files = fileValues(await readShownFiles(store, ownerNo, job.files))
  const values = {
    params,
    secrets: maskedValues(template),
    files,
    objects: shownObjects(template),
    device,
    run: { runId: 0 },
  }
  return resolveDocument(job.document, values).document ?? null
}
