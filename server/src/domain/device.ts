// Devices and their credentials.

import { ApiError, type DeviceContent } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { ChangeSignal } from './change-signal.ts'
import { hashSecret, newSecretText } from './secret-text.ts'
import type { DevicePut, Put, Store, StoredDevice } from './store.ts'

export type DeviceDeps = {
  store: Store
  /** Resolves once the device is on disk. */
  recordDevice: (put: DevicePut) => Promise<Put<StoredDevice>>
  now: () => number
  changes: ChangeSignal
}

export function putDevice(
  deps: DeviceDeps,
  caller: Caller,
  deviceId: string,
  content: DeviceContent,
): Promise<Put<StoredDevice>> {
  return deps.recordDevice({
    ownerNo: caller.ownerNo,
    deviceId,
    deviceName: content.deviceName ?? deviceId,
    tags: (content.tags ?? []).toSorted(),
    at: deps.now(),
  })
}

export async function getDevice(deps: DeviceDeps, caller: Caller, deviceId: string): Promise<StoredDevice> {
  const device = await deps.store.getDevice(caller.ownerNo, deviceId)
  if (device === undefined) throw new ApiError('J-001')
  return device
}

/** Its executions that have not ended are canceled: nobody is left to carry them out. */
export async function deleteDevice(deps: DeviceDeps, caller: Caller, deviceId: string): Promise<void> {
  const deleted = await deps.store.deleteDevice(caller.ownerNo, deviceId, deps.now())
  if (deleted === undefined) throw new ApiError('J-001')
  deps.changes.tell(deleted.runIds)
}

export async function createDeviceCredential(
  deps: DeviceDeps,
  caller: Caller,
  deviceId: string,
): Promise<string> {
  const { id, text } = newSecretText('jd')
  const token = { tokenId: id, tokenHash: hashSecret(text), at: deps.now() }
  if (!(await deps.store.setDeviceToken(caller.ownerNo, deviceId, token))) throw new ApiError('J-001')
  return text
}
