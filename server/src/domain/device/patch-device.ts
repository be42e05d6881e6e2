// Partial update of a device: omitted fields keep their values (RFC 7396).

import { ApiError, type DeviceContent, type DevicePatch, maxAttributes } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { type ExpectedTags, isExpected } from '../common/entity-tag.ts'
import { mergePatch } from '../common/merge-patch.ts'
import type { Put } from '../common/ports/slices.ts'
import { type DeviceDeps, getDevice, putDevice } from './device.ts'
import { contentOf } from './device-content.ts'
import { deviceTag } from './own-fields.ts'
import type { OwnFields, StoredDevice } from './ports/devices.ts'

/** Maximum number of tries if the device changes concurrently. */
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
      // The device was changed concurrently.
      if (!(error instanceof ApiError && error.code === 'J-312')) throw error
    }
  }
  throw new ApiError('J-908', { retryAfterSeconds: 1 })
}

/** The content of a put that changes only the fields of the patch. Throws J-500 if it would have too many attributes. */
export function patchedContent(device: OwnFields, patch: DevicePatch): DeviceContent {
  const content = mergePatch(contentOf(device), patch) as DeviceContent
  const count = Object.keys(content.attributes ?? {}).length
  if (count > maxAttributes) {
    const detail = `A device has at most ${maxAttributes} attributes; it would have ${count}.`
    throw new ApiError('J-500', { field: 'attributes', detail })
  }
  return content
}
