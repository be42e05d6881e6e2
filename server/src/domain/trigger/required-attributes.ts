// The attributes of each device that a job's document needs.

import { ApiError, type OnMissing } from '@jobcast/contract'
import { namesUsed } from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import type { Selected } from '../selector/select-devices.ts'
import { needed, templateOf, type ValuedContent, type ValuesDeps } from './run-values.ts'

const namedDevices = 100
const lookedAtOnce = 5000

/** In the same order; without ids if there are too many. */
type Devices = Pick<Selected, 'deviceIds' | 'deviceNos'>

/** Names of the attributes that each device of a run must have. */
export function neededAttributes(content: ValuedContent): string[] {
  const template = templateOf(content)
  return template ? namesUsed(needed(template), 'attributes') : []
}

/** The devices that have all attributes that the document needs. */
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

/** The devices that have the needed attributes. Throws J-506 unless others may be skipped, J-504 if none is left. */
export async function requireAttributes(
  { store }: ValuesDeps,
  ownerNo: number,
  content: ValuedContent,
  deviceIds: string[],
  onMissing: OnMissing = 'REFUSE',
): Promise<string[]> {
  const withoutValues = await listWithoutValues(store, ownerNo, content, deviceIds)
  const left = keepWithValues(deviceIds, withoutValues, content, onMissing)
  if (left.length === 0) throw noDeviceLeft(content)
  return left
}

export async function listWithoutValues(
  store: ValuesDeps['store'],
  ownerNo: number,
  content: ValuedContent,
  deviceIds: string[],
): Promise<Set<string>> {
  const names = neededAttributes(content)
  const withoutValues = new Set<string>()
  for (let start = 0; names.length > 0 && start < deviceIds.length; start += lookedAtOnce) {
    const some = deviceIds.slice(start, start + lookedAtOnce)
    for (const deviceId of await store.listWithoutValues({ ownerNo, deviceIds: some, names }))
      withoutValues.add(deviceId)
  }
  return withoutValues
}

/** Like `requireAttributes`, for devices listed by number. */
async function requireAttributesOf(
  { store }: ValuesDeps,
  ownerNo: number,
  content: ValuedContent,
  deviceNos: Int32Array,
  onMissing: OnMissing = 'REFUSE',
): Promise<Int32Array> {
  const withoutValues = await listNosWithoutValues(store, ownerNo, content, deviceNos)
  if (withoutValues.size === 0) return deviceNos
  if (onMissing !== 'SKIP') throw missingValuesError(new Set(withoutValues.values()), content)
  const left = deviceNos.filter((deviceNo) => !withoutValues.has(deviceNo))
  if (left.length === 0) throw noDeviceLeft(content)
  return left
}

export function listNosWithoutValues(
  store: ValuesDeps['store'],
  ownerNo: number,
  content: ValuedContent,
  deviceNos: Int32Array,
): Promise<Map<number, string>> {
  return listWithout(store, ownerNo, neededAttributes(content), deviceNos)
}

/** The devices that lack some of these attributes: ids by number. */
export async function listWithout(
  store: Pick<ValuesDeps['store'], 'listNosWithoutValues'>,
  ownerNo: number,
  names: string[],
  deviceNos: Int32Array,
): Promise<Map<number, string>> {
  const withoutValues = new Map<number, string>()
  for (let start = 0; names.length > 0 && start < deviceNos.length; start += lookedAtOnce) {
    const some = Array.from(deviceNos.subarray(start, start + lookedAtOnce))
    const found = await store.listNosWithoutValues({ ownerNo, deviceNos: some, names })
    for (const { deviceNo, deviceId } of found) withoutValues.set(deviceNo, deviceId)
  }
  return withoutValues
}

function keepWithValues(
  deviceIds: string[],
  withoutValues: Set<string>,
  content: ValuedContent,
  onMissing: OnMissing,
): string[] {
  if (withoutValues.size === 0) return deviceIds
  if (onMissing !== 'SKIP') throw missingValuesError(withoutValues, content)
  return deviceIds.filter((deviceId) => !withoutValues.has(deviceId))
}

function missingValuesError(withoutValues: Set<string>, content: ValuedContent): ApiError {
  return new ApiError('J-506', {
    deviceIds: [...withoutValues].slice(0, namedDevices),
    detail: missingValuesText(withoutValues, content),
  })
}

/** For a run that may skip devices. */
function noDeviceLeft(content: ValuedContent): ApiError {
  const names = neededAttributes(content).join(', ')
  return new ApiError('J-504', { detail: `None of the devices has all of these attributes: ${names}.` })
}

export function missingValuesText(withoutValues: Set<string>, content: ValuedContent): string {
  const names = neededAttributes(content).join(', ')
  const shown = [...withoutValues].slice(0, 20).join(', ') + (withoutValues.size > 20 ? ', …' : '')
  return withoutValues.size === 1
    ? `The device ${shown} lacks some of these attributes: ${names}.`
    : `${withoutValues.size} devices lack some of these attributes: ${names}. The devices are ${shown}.`
}
