// What a put does to a device: its new fields, and the event that it causes.

import type { DevicePut, StoredDevice } from './ports/devices.ts'

export type PutEffects = { now: StoredDevice; event: 'device.created' | 'device.updated' | undefined }

/** `before`: undefined if there is no such device, or it was deleted. */
export function putDevice(before: StoredDevice | undefined, put: DevicePut): PutEffects {
  const { deviceId, deviceName, tags, at } = put
  if (before === undefined) {
    const presence = { online: false, since: null, lastSeenAt: null, transport: null }
    const credential = { credentialCreatedAt: null, credentialCreatedBy: null, certificateRevokedAt: null }
    const fresh = { ...credential, presence, createdAt: at, updatedAt: at }
    return { now: { deviceId, deviceName, tags, ...fresh }, event: 'device.created' }
  }
  const isSame = before.deviceName === deviceName && hasTags(before, tags)
  const now = { ...before, deviceName, tags, updatedAt: at }
  return { now, event: isSame ? undefined : 'device.updated' }
}

function hasTags(device: StoredDevice, tags: string[]): boolean {
  return device.tags.length === tags.length && device.tags.every((tag, index) => tag === tags[index])
}
