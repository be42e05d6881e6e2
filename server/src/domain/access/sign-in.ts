// Authenticates a device by its token, or by a certificate from a trusted CA.

import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from '../device/device-key.ts'
import type { SecretCheck } from './ports/secret-check.ts'
import { secretCheck } from './secret-check.ts'

export type SignInDeps = {
  store: Pick<Store, 'findDeviceByToken' | 'findDeviceByCertificate'>
  credentialChanges: CredentialChanges
  secrets?: SecretCheck
}

/** Counts changes of credentials: a look-up during which it changed may be stale. */
export type CredentialChanges = { count: number }

/** `tokenId` is null if the device signed in with a certificate. */
export type SignedInDevice = DeviceKey & { tokenId: string | null }

/** Undefined if the token is malformed, unknown or revoked, or belongs to another device. */
export async function signInByToken(
  deps: SignInDeps,
  token: string,
  deviceId?: string,
): Promise<SignedInDevice | undefined> {
  const { secrets = secretCheck } = deps
  const tokenId = secrets.idOf('jd', token)
  if (tokenId === undefined) return undefined
  const found = await upToDate(deps, () => deps.store.findDeviceByToken({ tokenId }))
  if (!secrets.matches(token, found?.tokenHash) || found === undefined) return undefined
  if (deviceId !== undefined && deviceId !== found.deviceId) return undefined
  return { ownerNo: found.ownerNo, deviceId: found.deviceId, tokenId }
}

/** A certificate that names no owner belongs to the first owner. */
const firstOwnerName = 'default'

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
 * Connections are closed once, when a credential becomes void. A device admitted by a stale look-up after that would stay
 * connected, so the look-up is repeated if a credential changed meanwhile.
 */
async function upToDate<T>({ credentialChanges }: SignInDeps, lookUp: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = credentialChanges.count
    const found = await lookUp()
    if (credentialChanges.count === before) return found
  }
}
