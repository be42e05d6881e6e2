// A device changed in part: what is not named keeps its value (RFC 7396).

import { ApiError, type DeviceContent, type DevicePatch, maxAttributes } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { type ExpectedTags, isExpected } from '../common/entity-tag.ts'
import type { Put } from '../common/ports/slices.ts'
import { type DeviceDeps, getDevice, putDevice } from './device.ts'
import { deviceTag } from './device-tag.ts'
import type { Attributes, OwnFields, StoredDevice } from './ports/devices.ts'

/** How often somebody else may change it between our read and our write. */
const mostTries = 20

/** Throws J-001, J-311, J-312 and J-500. */
export async function patchDevice(
  deps: DeviceDeps,
  caller: Caller,
  deviceId: string,
  patch: DevicePatch,
  { expected }: { expected?: ExpectedTags } = {},
): Promise<Put<StoredDevice>> {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = await getDevice(deps, caller, deviceId)
    const tag = deviceTag(before)
    if (!isExpected(expected, tag)) throw new ApiError('J-312')
    try {
      return await putDevice(deps, caller, deviceId, patchedContent(before, patch), {
        expected: [tag],
      })
    } catch (error) {
      // Somebody else was first.
      if (!(error instanceof ApiError && error.code === 'J-312')) throw error
    }
  }
  throw new ApiError('J-908', { retryAfterSeconds: 1 })
}

/** What a put has that changes only what the patch names. Throws J-500. */
export function patchedContent(device: Required<OwnFields>, patch: DevicePatch): DeviceContent {
  return mergePatch(contentOf(device), patch)
}

/** What a put of the device as it is would have. */
function contentOf({ deviceName, tags, attributes: all, window }: Required<OwnFields>): DeviceContent {
  const { timeZone, ...attributes } = all
  return { deviceName, tags, attributes, timeZone: timeZone === undefined ? null : String(timeZone), window }
}

/** Throws J-500 if it would have too many attributes. */
function mergePatch(
  content: DeviceContent,
  { deviceName, tags, attributes, timeZone, window }: DevicePatch,
): DeviceContent {
  const { deviceName: _, ...unnamed } = content
  return {
    ...(deviceName === null ? unnamed : content),
    ...(typeof deviceName === 'string' && { deviceName }),
    ...(tags !== undefined && { tags: tags ?? [] }),
    ...(attributes !== undefined && { attributes: mergeAttributes(content.attributes ?? {}, attributes) }),
    ...(timeZone !== undefined && { timeZone }),
    ...(window !== undefined && { window }),
  }
}

function mergeAttributes(before: Attributes, changes: DevicePatch['attributes']): Attributes {
  if (changes === null) return {}
  const kept = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  if (kept.length > maxAttributes) {
    const detail = `A device has at most ${maxAttributes} attributes; it would have ${kept.length}.`
    throw new ApiError('J-500', { field: 'attributes', detail })
  }
  return Object.fromEntries(kept) as Attributes
}
