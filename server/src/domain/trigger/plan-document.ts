// What a run would hand out, and which devices lack something for it.

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
import { requireFiles } from '../file/file.ts'
import { readShownFiles } from '../file/file-links.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { requireSecrets } from '../secret/secret.ts'
import { lackingText, listLacking, listLackingNos } from './required-attributes.ts'
import { requireValues, templateOf, type ValuesDeps } from './run-values.ts'

export type PlanDocumentDeps = ValuesDeps & { store: Pick<Store, 'listDeviceValues' | 'findFiles'> }
/** Those of the run. */
type LeftDevices = { deviceIds: string[] | undefined; deviceNos: Int32Array }
type Devices = { sample: string[]; deviceIds: string[] | undefined; deviceNos?: Int32Array }

/** Throws J-500 for values that are refused, and J-318. */
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
  const lackingNos = deviceIds ? undefined : await listLackingNos(deps.store, ownerNo, job, deviceNos)
  const lacking = deviceIds
    ? await listLacking(deps.store, ownerNo, job, deviceIds)
    : new Set(lackingNos?.values())
  const first = sample.find((deviceId) => !lacking.has(deviceId))
  const document =
    first === undefined ? null : await documentFor(deps, { ownerNo, deviceId: first }, job, values)
  if (lacking.size === 0) return { document, problems: [], left: { deviceIds, deviceNos } }
  if (onMissing !== 'SKIP') {
    return { document, problems: [lackingText(lacking, job)], left: { deviceIds, deviceNos } }
  }
  const left = {
    deviceIds: deviceIds?.filter((deviceId) => !lacking.has(deviceId)),
    deviceNos: lackingNos ? deviceNos.filter((deviceNo) => !lackingNos.has(deviceNo)) : deviceNos,
  }
  return { document, problems: [`${lackingText(lacking, job)} Devices without them are skipped.`], left }
}

/** Its run has no id yet: it is 0 here. */
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
  const values = { params, secrets: maskedValues(template), files, device, run: { runId: 0 } }
  return resolveDocument(job.document, values).document ?? null
}
