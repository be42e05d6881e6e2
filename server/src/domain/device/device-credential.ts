// Device credentials. A change takes effect at once: a device that signed in with the old one is disconnected.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { hashSecret, newSecretText } from '../access/secret-text.ts'
import type { CredentialChanges } from '../access/sign-in.ts'
import { originOf } from '../audit/audit.ts'
import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from './device-key.ts'
import type { DeviceLink } from './ports/device-link.ts'
import type { DeviceToken } from './ports/devices.ts'

export type CredentialDeps = {
  store: Pick<Store, 'setDeviceToken' | 'allowDeviceCertificate'>
  now: () => number
  credentialChanges: CredentialChanges
  link: Pick<DeviceLink, 'disconnect'>
}

export async function createDeviceCredential(
  deps: CredentialDeps,
  caller: Caller,
  deviceId: string,
): Promise<string> {
  const { id, text } = newSecretText('jd')
  await replaceToken(deps, caller, deviceId, {
    tokenId: id,
    tokenHash: hashSecret(text),
    at: deps.now(),
    createdBy: principalOf(caller),
  })
  return text
}

/** Idempotent. Certificates of the device are refused from now on, also when it gets a token again. */
export function revokeDeviceCredential(
  deps: CredentialDeps,
  caller: Caller,
  deviceId: string,
): Promise<void> {
  return replaceToken(deps, caller, deviceId, null)
}

/** Idempotent. Allows the certificates of the device after a revocation; its token does not change. */
export async function allowDeviceCertificate(
  { store, now }: CredentialDeps,
  caller: Caller,
  deviceId: string,
): Promise<void> {
  const allowed = { ownerNo: caller.ownerNo, deviceId, at: now(), ...originOf(caller) }
  if (!(await store.allowDeviceCertificate(allowed))) throw new ApiError('J-001')
}

async function replaceToken(
  deps: CredentialDeps,
  caller: Caller,
  deviceId: string,
  token: DeviceToken | null,
): Promise<void> {
  const { ownerNo } = caller
  const change = { ownerNo, deviceId, token, at: deps.now(), ...originOf(caller) }
  if (!(await deps.store.setDeviceToken(change))) throw new ApiError('J-001')
  disconnectDevice(deps, { ownerNo, deviceId })
}

/** Increments the counter first: a sign-in in progress repeats its lookup, and an open connection is closed. */
export function disconnectDevice(
  { credentialChanges, link }: Pick<CredentialDeps, 'credentialChanges' | 'link'>,
  device: DeviceKey,
): void {
  credentialChanges.count++
  link.disconnect(device)
}
