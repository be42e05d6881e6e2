// The attributes that the document of a job needs of each device of a run.

import { ApiError, type OnMissing } from '@jobcast/contract'
import { namesUsed } from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import type { Selected } from '../selector/select-devices.ts'
import { needed, templateOf, type ValuedContent, type ValuesDeps } from './run-values.ts'

const namedDevices = 100
const lookedAtOnce = 5000

/** Aligned; without ids if there are too many of them. */
type Devices = Pick<Selected, 'deviceIds' | 'deviceNos'>

/** Names of the attributes that each device of a run must have. */
export function neededAttributes(content: ValuedContent): string[] {
  const template = templateOf(content)
  return template ? namesUsed(needed(template), 'attributes') : []
}

/** Those of the devices of a run that have what the document needs. */
export async function devicesWithAttributes(
  deps: ValuesDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  content: ValuedContent,
  { deviceIds, deviceNos }: Devices,
  onMissing: OnMissing | undefined,
): Promise<Devices> {
  if (deviceIds === undefined) {
    const left = await requireAttributesOf(deps, ownerNo, content, deviceNos, onMissing)
    return { deviceIds, deviceNos: left }
  }
  const left = await requireAttributes(deps, ownerNo, content, deviceIds, onMissing)
  return { deviceIds: left, deviceNos }
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
async function requireAttributesOf(
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
