import type { IConnectPacket } from 'mqtt-packet'
import {
  type SignedInDevice,
  type SignInDeps,
  signInByCertificate,
  signInByToken,
} from '../../domain/sign-in.ts'

/** Of a certificate that the settings trust. */
export type CertificateSubject = { commonName: string; organization: string | undefined }

const nobody = Promise.resolve(undefined)

/**
 * A password is the deviceToken, and counts alone when there is one; without one the certificate counts. Undefined
 * for whatever is wrong. Not async: between the look-up and whoever lets the device in, nothing should come.
 */
export function signInDevice(
  deps: SignInDeps,
  connect: IConnectPacket,
  subject: CertificateSubject | undefined,
): Promise<SignedInDevice | undefined> {
  const deviceId = claimedDeviceId(connect)
  const token = connect.password?.toString() ?? ''
  if (token !== '') return deviceId === '' ? nobody : signInByToken(deps, token, deviceId)
  if (subject === undefined || (deviceId !== '' && deviceId !== subject.commonName)) return nobody
  return signInByCertificate(deps, subject)
}

/** AWS's SDKs append `?SDK=…` to the user name. */
export function claimedDeviceId({ username = '' }: IConnectPacket): string {
  const [deviceId = ''] = username.split('?', 1)
  return deviceId
}
