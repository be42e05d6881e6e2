import type { IConnectPacket } from 'mqtt-packet'
import {
  type SignedInDevice,
  type SignInDeps,
  signInByCertificate,
  signInByToken,
} from '../../domain/access/sign-in.ts'

/** Subject of a trusted certificate. */
export type CertificateSubject = {
  commonName: string
  organization: string | undefined
  /** Of the certificate, as revoked-serials.ts has it. */
  serial: string
}

const nobody = Promise.resolve(undefined)

/**
 * The password is the deviceToken; if there is one, the certificate is ignored. Undefined for any failure. Not async:
 * nothing should run between the look-up and opening the session.
 */
export function signInDevice(
  deps: SignInDeps,
  connect: IConnectPacket,
  subject: CertificateSubject | undefined,
): Promise<SignedInDevice | undefined> {
  const deviceId = claimedDeviceId(connect)
  const token = connect.password?.toString() ?? ''
  // Without `secrets`, which remembers what was right for the next request: of a connection there is one.
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
