// The effects of a put: the new fields of the device, and its event.

import { maxAttributes } from '@jobcast/contract/selector'
import { deviceTag, ownFields } from './own-fields.ts'
import type { AttributeReport, Attributes, DevicePut, StoredDevice } from './ports/devices.ts'

type PutEffects = { now: StoredDevice; event: 'device.created' | 'device.updated' | undefined }

/** `before`: undefined if the device does not exist or was deleted. */
export function putDevice(before: StoredDevice | undefined, put: DevicePut): PutEffects {
  const { deviceId, at } = put
  const own = ownFields(put.keepsWindow ? { ...put, window: before?.window ?? null } : put)
  if (before === undefined) {
    const presence = { online: false, since: null, lastSeenAt: null, transport: null }
    const credential = { credentialCreatedAt: null, credentialCreatedBy: null, certificateRevokedAt: null }
    const fresh = { ...credential, presence, createdAt: at, updatedAt: at }
    const known = { deviceId, ...own, reportedAttributes: {} }
    return { now: { ...known, ...fresh }, event: 'device.created' }
  }
  const isSame = deviceTag(before) === deviceTag(own)
  return { now: { ...before, ...own, updatedAt: at }, event: isSame ? undefined : 'device.updated' }
}

/** Undefined: the device would have too many attributes. `changed` has the changed attributes, with null for removed ones. */
export function mergeReported(
  before: Attributes,
  changes: AttributeReport['changes'],
): { now: Attributes; changed: AttributeReport['changes'] } | undefined {
  const kept = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  if (kept.length > maxAttributes) return undefined
  const now = Object.fromEntries(kept) as Attributes
  const changed = changesOf(before, now).map((name) => [name, now[name] ?? null] as const)
  return { now, changed: Object.fromEntries(changed) }
}

/** The names of added, removed and changed attributes. */
export function changesOf(before: Attributes, now: Attributes): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...names].filter((name) => before[name] !== now[name])
}
