// Changes tags and attributes of many devices. Each batch is read, changed and written separately, in the order of the
// deviceIds; devices that change concurrently are read again. The call can be repeated.

import { ApiError, type DevicesChange, type DevicesChanged, maxAttributes, maxTags } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import { maxSelected } from '../selector/select-devices.ts'
import { readSelector } from '../selector/selector.ts'
import { namedDevices } from '../trigger/launch-run.ts'
import { requireAttributeChanges } from './attributes.ts'
import { type DeviceDeps, settled } from './device.ts'
import { deviceTag, ownFields } from './own-fields.ts'
import type { Attributes, StoredDevice } from './ports/devices.ts'

/** Devices per read. */
const pageSize = 2000
/** Devices per write, as in an import. */
const batchSize = 500
/** Maximum number of tries if a device changes concurrently. */
const mostTries = 20
const maxNamedFailures = 1000

/** Throws J-500, J-503, J-309 and J-001. */
export async function changeDevices(
  deps: DeviceDeps,
  caller: Caller,
  request: DevicesChange,
  { dryRun }: { dryRun: boolean },
): Promise<DevicesChanged> {
  requireChange(request)
  await settled(deps.presence)
  const { ownerNo } = caller
  const where = await selectorOf(deps, caller, request)
  const result: DevicesChanged = { matched: 0, changed: 0, failed: [], failedTotal: 0 }
  for await (const page of pagesOf(deps, ownerNo, where)) {
    result.matched += page.length
    if (result.matched > maxSelected) {
      throw invalid('where', `A selector may match at most ${maxSelected} devices.`)
    }
    for (let start = 0; start < page.length; start += batchSize) {
      const batch = page.slice(start, start + batchSize)
      if (dryRun) for (const device of batch) count(result, device, changeDevice(device, request))
      else await changeBatch(deps, { caller, where, request }, batch, result)
    }
  }
  return result
}

type Change = Pick<DevicesChange, 'addTags' | 'removeTags' | 'attributes'>
type Changed = Pick<StoredDevice, 'tags' | 'attributes'> | 'same' | ApiError

/** The changed fields; ApiError: they would exceed a limit. */
function changeDevice(device: Pick<StoredDevice, 'tags' | 'attributes'>, change: Change): Changed {
  const { addTags = [], removeTags = [], attributes: changes = {} } = change
  const kept = device.tags.filter((tag) => !removeTags.includes(tag))
  const tags = [...new Set([...kept, ...addTags])].toSorted()
  if (tags.length > maxTags) return invalid('tags', `A device has at most ${maxTags} tags.`)
  const entries = Object.entries({ ...device.attributes, ...changes }).filter(([, value]) => value !== null)
  const attributes = Object.fromEntries(entries) as Attributes
  // The time zone is a field of its own.
  const own = entries.length - (Object.hasOwn(attributes, 'timeZone') ? 1 : 0)
  if (own > maxAttributes) return invalid('attributes', `A device has at most ${maxAttributes} attributes.`)
  const after = { deviceName: '', tags, attributes }
  const isSame =
    deviceTag(after) === deviceTag({ ...after, tags: device.tags, attributes: device.attributes })
  return isSame ? 'same' : { tags, attributes }
}

type Changing = { caller: Caller; where: Selector; request: Change }

async function changeBatch(
  deps: DeviceDeps,
  { caller, where, request }: Changing,
  batch: StoredDevice[],
  result: DevicesChanged,
): Promise<void> {
  for (let tries = 0, left = batch; left.length > 0; tries++) {
    if (tries === mostTries) throw new ApiError('J-908', { retryAfterSeconds: 1 })
    const outcomes = await Promise.all(left.map((device) => write(deps, caller, device, request)))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome !== 'conflict') count(result, left[index] as StoredDevice, outcome)
    }
    const values = left.filter((_, index) => outcomes[index] === 'conflict').map(({ deviceId }) => deviceId)
    if (values.length === 0) return
    const again: Selector = { kind: 'and', of: [{ kind: 'in', name: 'deviceId', values }, where] }
    left = await Array.fromAsync(pagesOf(deps, caller.ownerNo, again)).then((pages) => pages.flat())
  }
}

async function write(
  deps: DeviceDeps,
  caller: Caller,
  device: StoredDevice,
  request: Change,
): Promise<Changed | 'conflict'> {
  const changed = changeDevice(device, request)
  if (changed === 'same' || changed instanceof ApiError) return changed
  const { deviceId } = device
  const { window: _, ...kept } = ownFields(device)
  const { at, clock } = deps.moment()
  const put = {
    ...{ ownerNo: caller.ownerNo, deviceId, ...kept, ...changed, keepsWindow: true as const, at, clock },
    ...{ expected: [deviceTag(device)], ...originOf(caller) },
  }
  const { isRefused } = await deps.recordDevice(put)
  return isRefused ? 'conflict' : changed
}

function count(result: DevicesChanged, { deviceId }: StoredDevice, outcome: Changed): void {
  if (outcome === 'same') return
  if (!(outcome instanceof ApiError)) {
    result.changed++
    return
  }
  result.failedTotal++
  const { code, message, details } = outcome
  if (result.failed.length < maxNamedFailures)
    result.failed.push({ deviceId, code, message: `${message}: ${details.detail}` })
}

async function* pagesOf(
  { store }: DeviceDeps,
  ownerNo: number,
  where: Selector,
): AsyncGenerator<StoredDevice[]> {
  for (let after: string | undefined; ; ) {
    const { items, next } = await store.listDevices({
      ownerNo,
      filter: { where },
      slice: { after, limit: pageSize },
    })
    if (items.length > 0) yield items
    if (next === undefined) return
    after = next
  }
}

async function selectorOf(
  deps: DeviceDeps,
  caller: Caller,
  { where, deviceIds = [] }: DevicesChange,
): Promise<Selector> {
  if (where !== undefined) return readSelector(deps, caller, where)
  const missing = new Set(deviceIds)
  const listed: Selector = { kind: 'in', name: 'deviceId', values: [...missing] }
  for await (const page of pagesOf(deps, caller.ownerNo, listed)) {
    for (const { deviceId } of page) missing.delete(deviceId)
  }
  if (missing.size === 0) return listed
  throw new ApiError('J-001', { field: 'deviceIds', deviceIds: [...missing].slice(0, namedDevices) })
}

function requireChange({ where, deviceIds, addTags, removeTags, attributes }: DevicesChange): void {
  if ((where === undefined) === (deviceIds === undefined)) {
    throw invalid('where', 'Either where or deviceIds must be given.')
  }
  const changes = (addTags?.length ?? 0) + (removeTags?.length ?? 0) + Object.keys(attributes ?? {}).length
  if (changes === 0)
    throw invalid('body', 'At least one of addTags, removeTags and attributes must be given.')
  const both = addTags?.find((tag) => removeTags?.includes(tag))
  if (both !== undefined)
    throw invalid('removeTags', `${JSON.stringify(both)} cannot be both added and removed.`)
  requireAttributeChanges(attributes ?? {})
}

function invalid(field: string, detail: string): ApiError {
  return new ApiError('J-500', { field, detail })
}
