import type { IConnectPacket } from 'mqtt-packet'
import {
  type SignedInDevice,
  type SignInDeps,
  signInByCertificate,
  signInByToken,
} from '../../domain/access/sign-in.ts'
import type { CertificateSubject } from '../certificates/listener-tls.ts'

const nobody = Promise.resolve(undefined)

/**
 * The password is the deviceToken; with a password, the certificate is ignored. Undefined for any failure. Not async:
 * nothing should run between the look-up and opening the session.
 */
export function signInDevice(
  deps: SignInDeps,
  connect: IConnectPacket,
  subject: CertificateSubject | undefined,
): Promise<SignedInDevice | undefined> {
  const deviceId = claimedDeviceId(connect)
  const token = connect.password?.toString() ?? ''
  // Without `secrets`, which caches verified tokens for the next request: a connection signs in once.
  const { store, credentialChanges } = deps
  if (token !== '')
    return deviceId === '' ? nobody : signInByToken({ store, credentialChanges }, token, deviceId)
  if (subject === undefined || (deviceId !== '' && deviceId !== subject.commonName)) return nobody
  return signInByCertificate(deps, subject)
}

/** AWS's SDKs append `?SDK=…` to the user name. */
export function claimedDeviceId({ username = '' }: IConnectPacket): string {
  const [deviceId = ''] = username.split('?', 1)
  return deviceId
}
