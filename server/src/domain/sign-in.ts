// A device shows who it is: its token, or a certificate that the settings trust.

import type { DeviceKey } from './ports/devices.ts'
import type { Store } from './ports/store.ts'
import { secretId, secretMatches } from './secret-text.ts'

export type SignInDeps = {
  store: Pick<Store, 'findDeviceByToken' | 'findDeviceByCertificate'>
  credentialChanges: CredentialChanges
}

/** How often credentials have changed: a look-up during which that was counted up is out of date. */
export type CredentialChanges = { count: number }

/** `tokenId`: of the token it has shown; null if it was a certificate. */
export type SignedInDevice = DeviceKey & { tokenId: string | null }

/** Undefined for whatever is wrong: bad token, unknown or deleted device, revoked, the name of another device. */
export async function signInByToken(
  deps: SignInDeps,
  token: string,
  deviceId?: string,
): Promise<SignedInDevice | undefined> {
  const tokenId = secretId('jd', token)
  if (tokenId === undefined) return undefined
  const found = await upToDate(deps, () => deps.store.findDeviceByToken({ tokenId }))
  if (!secretMatches(token, found?.tokenHash) || found === undefined) return undefined
  if (deviceId !== undefined && deviceId !== found.deviceId) return undefined
  return { ownerNo: found.ownerNo, deviceId: found.deviceId, tokenId }
}

/** A certificate that names no owner is one of the first owner's devices. */
export const firstOwnerName = 'default'

export async function signInByCertificate(
  deps: SignInDeps,
  subject: { commonName: string; organization: string | undefined },
): Promise<SignedInDevice | undefined> {
  const { commonName, organization = firstOwnerName } = subject
  const found = await upToDate(deps, () =>
    deps.store.findDeviceByCertificate({ ownerName: organization, deviceId: commonName }),
  )
  return found && { ...found, tokenId: null }
}

/**
 * Whoever is let in after a credential became void would stay: who is connected is closed only once, when it
 * happens. So a look-up that a change has overtaken is made again.
 */
async function upToDate<T>({ credentialChanges }: SignInDeps, look: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = credentialChanges.count
    const found = await look()
    if (credentialChanges.count === before) return found
  }
}
