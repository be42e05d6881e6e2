// A device fetches its first credential with an enrollment token.

import { isNewDeviceId } from '@jobcast/contract'
import { enrollmentPrincipal } from '../access/principal.ts'
import { hashSecret, newSecretText, secretId, secretMatches } from '../access/secret-text.ts'
import { type QuotaDeps, withinQuota } from '../access/within-quota.ts'
import type { Store } from '../common/ports/store.ts'
import { DeviceError } from '../execution/device-error.ts'
import type { EnrollRequest } from '../execution/device-request.ts'
import { type CredentialDeps, disconnectDevice } from './device-credential.ts'
import { isOpen } from './judge-enrollment.ts'
import type { EnrollOutcome, StoredEnrollment } from './ports/enrollments.ts'

export type EnrollDeps = QuotaDeps &
  Pick<CredentialDeps, 'now' | 'credentialChanges' | 'link'> & {
    store: Pick<Store, 'findEnrollment' | 'enrollDevice' | 'getDevice'>
  }

/** An enrollment together with the token that was presented. */
export type ShownEnrollment = { enrollment: StoredEnrollment; enrollmentToken: string }

/**
 * Undefined for a malformed, unknown, expired or revoked token. The store decides whether it is used up, because a device
 * that lost the answer to its last use may repeat the request.
 */
export async function openEnrollment(
  { store, now }: EnrollDeps,
  enrollmentToken: string,
): Promise<ShownEnrollment | undefined> {
  const enrollmentId = secretId('je', enrollmentToken)
  if (enrollmentId === undefined) return undefined
  const enrollment = await store.findEnrollment({ enrollmentId })
  if (!secretMatches(enrollmentToken, enrollment?.secretHash) || enrollment === undefined) return undefined
  return isOpen(enrollment, now()) ? { enrollment, enrollmentToken } : undefined
}

/**
 * The claim of all devices that a gateway creates (ddi/sign-in.ts), with any of its enrollments: the tokens of these devices
 * are not used, so a later enrollment of the gateway can act for them. It is not a hash, so no device can send it.
 */
export const gatewayClaim: Uint8Array = Buffer.from('devices of a gateway'.padEnd(32))

type GatewayRequest = { deviceName: undefined; claim: typeof gatewayClaim }
type Enrolled = Exclude<EnrollOutcome, { kind: 'enrolled' }> | { kind: 'enrolled'; deviceToken: string }

export async function enrollDevice(
  deps: EnrollDeps,
  { enrollment, enrollmentToken }: ShownEnrollment,
  deviceId: string,
  { deviceName = deviceId, claim }: EnrollRequest | GatewayRequest,
): Promise<Enrolled> {
  const { enrollmentId, ownerNo, deviceIdPrefix } = enrollment
  checkDeviceId(deviceId, deviceIdPrefix ?? '')
  const { id, text } = newSecretText('jd')
  const enrolling = {
    enrollmentId,
    deviceId,
    deviceName,
    token: {
      tokenId: id,
      tokenHash: hashSecret(text),
      at: deps.now(),
      createdBy: enrollmentPrincipal(enrollmentId),
    },
    // Hashed with the token: the claim is valid for this enrollment only, and a weak one cannot be guessed from its hash.
    claimHash: claimHashOf(claim, enrollmentToken),
  }
  const isThere = async () => (await deps.store.getDevice({ ownerNo, deviceId })) !== undefined
  const isNew = deps.quotas.devices > 0 && !(await isThere())
  const outcome = isNew
    ? await withinQuota(deps, 'devices', ownerNo, () => deps.store.enrollDevice(enrolling), {
        isCreated: ({ kind }) => kind === 'enrolled',
      })
    : await deps.store.enrollDevice(enrolling)
  if (outcome.kind !== 'enrolled') return outcome
  disconnectDevice(deps, { ownerNo, deviceId })
  return { kind: 'enrolled', deviceToken: text }
}

function claimHashOf(
  claim: EnrollRequest['claim'] | typeof gatewayClaim,
  enrollmentToken: string,
): Uint8Array | null {
  if (claim === undefined || claim === gatewayClaim) return claim ?? null
  return hashSecret(`${enrollmentToken} ${claim}`)
}

function checkDeviceId(deviceId: string, prefix: string): void {
  if (!isNewDeviceId(deviceId)) {
    throw new DeviceError('InvalidRequest', 'A deviceId is 1 to 128 characters without / + # ?.')
  }
  if (!deviceId.startsWith(prefix)) {
    throw new DeviceError(
      'InvalidRequest',
      'The deviceId does not have the prefix that this enrollment requires.',
    )
  }
}
