// The values of a run's parameters: judged by the schema of its job, stored once for all its executions.

import { ApiError, type OnMissing } from '@jobcast/contract'
import {
  type DocumentTemplate,
  fillTemplate,
  judgeParameters,
  maskNamed,
  matchingSteps,
  maxMatchSteps,
  namesUsed,
  type ParameterSchema,
  type ParameterValues,
  parseDocument,
  secretNames,
} from '@jobcast/contract/parameters'
import type { SecretBox } from '../access/ports/secret-box.ts'
import type { Store } from '../common/ports/store.ts'
import { ownersTurn } from '../common/turns.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import type { RunValues } from './ports/triggers.ts'

export type ValuesDeps = {
  secretBox: SecretBox
  store: Pick<Store, 'getDocument' | 'listLacking' | 'listLackingNos'>
}

/** What of a version decides about values. */
export type ValuedContent = Pick<StoredJobContent, 'parameters' | 'hasPlaceholders'> & { document: unknown }

export type GivenValues = {
  parameters?: Record<string, unknown> | undefined
  /** Names of those that are secrets whatever the schema says. */
  keptSecret?: string[]
  onMissing?: OnMissing | undefined
}

/** So that a device can receive it; without what differs by device, which is bounded by its attributes. */
const maxResolvedLength = 128 * 1024
const namedDevices = 100
const lookedAtOnce = 5000

/** Above this, matching patterns takes turns: about 0.5 ms. */
const fewSteps = 20_000

/** With defaults. Throws J-500 at the parameter. */
export async function requireValues(
  ownerNo: number,
  content: ValuedContent,
  given: Record<string, unknown> = {},
): Promise<ParameterValues> {
  const { parameters: schema } = content
  const steps = matchingSteps(schema, given)
  if (steps > fewSteps) await ownersTurn(ownerNo, Math.min(steps, maxMatchSteps))
  const template = templateOf(content)
  const { values, problems } = judgeParameters(
    schema,
    given,
    template ? namesUsed(needed(template), 'params') : [],
  )
  const [problem] = problems
  if (problem) {
    const { field, message } = problem
    throw new ApiError('J-500', { field, detail: `${field} ${message}.` })
  }
  if (template) {
    const { texts } = fillTemplate(template, {
      params: values,
      run: { runId: Number.MAX_SAFE_INTEGER },
    }).template
    if (texts.reduce((sum, text) => sum + text.length, 0) > maxResolvedLength) {
      const detail = 'With these parameters the document is larger than 128 KiB.'
      throw new ApiError('J-500', { field: 'parameters', detail })
    }
  }
  return values
}

export function templateOf({ document, hasPlaceholders }: ValuedContent): DocumentTemplate | undefined {
  return hasPlaceholders ? parseDocument(document) : undefined
}

/** Those that a document cannot do without. */
function needed({ texts, holes }: DocumentTemplate): DocumentTemplate {
  return { texts, holes: holes.filter(({ otherwise }) => otherwise === undefined) }
}

/** Names of the attributes that each device of a run must have. */
export function neededAttributes(content: ValuedContent): string[] {
  const template = templateOf(content)
  return template ? namesUsed(needed(template), 'attributes') : []
}

/** `keptSecret`: what was given as a secret stays one in a version that declares it otherwise. */
export function sealValues(
  box: SecretBox,
  ownerNo: number,
  schema: ParameterSchema | undefined,
  values: ParameterValues,
  keptSecret: readonly string[] = [],
): RunValues {
  const declared = [...new Set([...secretNames(schema), ...keptSecret])]
  const names = declared.filter((name) => Object.hasOwn(values, name))
  if (names.length === 0) return { parameters: values, secrets: null }
  const secrets = Object.fromEntries(names.map((name) => [name, values[name]]))
  return { parameters: maskNamed(names, values), secrets: box.encrypt(JSON.stringify(secrets), ownerNo) }
}

export function openValues(
  box: SecretBox,
  ownerNo: number,
  { parameters, secrets }: RunValues,
): ParameterValues {
  return { ...parameters, ...openSecrets(box, ownerNo, secrets) }
}

/** Only the secrets among them. */
export function openSecrets(box: SecretBox, ownerNo: number, secrets: RunValues['secrets']): ParameterValues {
  return secrets === null ? {} : JSON.parse(box.decrypt(secrets, ownerNo))
}

/** Those that have what the document needs. Throws J-506 unless the others may be left out, J-504 if nobody would be left. */
export async function requireAttributes(
  { store }: ValuesDeps,
  ownerNo: number,
  content: ValuedContent,
  deviceIds: string[],
  onMissing: OnMissing = 'REFUSE',
): Promise<string[]> {
  const lacking = await listLacking(store, ownerNo, content, deviceIds)
  const left = withoutLacking(deviceIds, lacking, content, onMissing)
  if (left.length === 0) throw nobodyLeft(content)
  return left
}

export async function listLacking(
  store: ValuesDeps['store'],
  ownerNo: number,
  content: ValuedContent,
  deviceIds: string[],
): Promise<Set<string>> {
  const names = neededAttributes(content)
  const lacking = new Set<string>()
  for (let start = 0; names.length > 0 && start < deviceIds.length; start += lookedAtOnce) {
    const some = deviceIds.slice(start, start + lookedAtOnce)
    for (const deviceId of await store.listLacking({ ownerNo, deviceIds: some, names })) lacking.add(deviceId)
  }
  return lacking
}

/** The same for devices that are known by number. */
export async function requireAttributesOf(
  { store }: ValuesDeps,
  ownerNo: number,
  content: ValuedContent,
  deviceNos: Int32Array,
  onMissing: OnMissing = 'REFUSE',
): Promise<Int32Array> {
  const lacking = await listLackingNos(store, ownerNo, content, deviceNos)
  if (lacking.size === 0) return deviceNos
  if (onMissing !== 'SKIP') throw lackingError(new Set(lacking.values()), content)
  const left = deviceNos.filter((deviceNo) => !lacking.has(deviceNo))
  if (left.length === 0) throw nobodyLeft(content)
  return left
}

export function listLackingNos(
  store: ValuesDeps['store'],
  ownerNo: number,
  content: ValuedContent,
  deviceNos: Int32Array,
): Promise<Map<number, string>> {
  return listWithout(store, ownerNo, neededAttributes(content), deviceNos)
}

/** Of these devices, those that do not have all of these attributes: their ids by their numbers. */
export async function listWithout(
  store: Pick<ValuesDeps['store'], 'listLackingNos'>,
  ownerNo: number,
  names: string[],
  deviceNos: Int32Array,
): Promise<Map<number, string>> {
  const lacking = new Map<number, string>()
  for (let start = 0; names.length > 0 && start < deviceNos.length; start += lookedAtOnce) {
    const some = Array.from(deviceNos.subarray(start, start + lookedAtOnce))
    const found = await store.listLackingNos({ ownerNo, deviceNos: some, names })
    for (const { deviceNo, deviceId } of found) lacking.set(deviceNo, deviceId)
  }
  return lacking
}

function withoutLacking(
  deviceIds: string[],
  lacking: Set<string>,
  content: ValuedContent,
  onMissing: OnMissing,
): string[] {
  if (lacking.size === 0) return deviceIds
  if (onMissing !== 'SKIP') throw lackingError(lacking, content)
  return deviceIds.filter((deviceId) => !lacking.has(deviceId))
}

function lackingError(lacking: Set<string>, content: ValuedContent): ApiError {
  return new ApiError('J-506', {
    deviceIds: [...lacking].slice(0, namedDevices),
    detail: lackingText(lacking, content),
  })
}

/** Of a run that may leave devices out. */
function nobodyLeft(content: ValuedContent): ApiError {
  const names = neededAttributes(content).join(', ')
  return new ApiError('J-504', { detail: `None of the devices has all of these attributes: ${names}.` })
}

export function lackingText(lacking: Set<string>, content: ValuedContent): string {
  const names = neededAttributes(content).join(', ')
  const shown = [...lacking].slice(0, 20).join(', ') + (lacking.size > 20 ? ', …' : '')
  return lacking.size === 1
    ? `The device ${shown} lacks some of these attributes: ${names}.`
    : `${lacking.size} devices lack some of these attributes: ${names}. The devices are ${shown}.`
}
