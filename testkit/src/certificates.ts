// Certificates for one test file, created when it starts and deleted when it ends: no key is stored.

import type { webcrypto } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import 'reflect-metadata'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
  X509CrlGenerator,
} from '@peculiar/x509'
import { newTemporaryFolder } from './temporary-folder.ts'

type Signed = { certificate: X509Certificate; keys: webcrypto.CryptoKeyPair }

const signing = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const day = 24 * 60 * 60 * 1000
let serial = 0

async function makeCertificate(
  name: string,
  extensions: Extension[],
  issuer?: Signed,
  notAfter = Date.now() + day,
): Promise<Signed> {
  const keys = await crypto.subtle.generateKey(signing, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.create({
    serialNumber: `0${++serial}`,
    subject: `CN=${name}`,
    issuer: issuer?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(Date.now() - 2 * day),
    notAfter: new Date(notAfter),
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: signing,
    extensions,
  })
  return { certificate, keys }
}

const authority = (name: string) =>
  makeCertificate(name, [new BasicConstraintsExtension(true, undefined, true)])
const ofClient = [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])]
const ofServer = [
  new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
  new SubjectAlternativeNameExtension([
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
  ]),
]

const folder = newTemporaryFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

function writeCertificate(name: string, { certificate }: Signed): string {
  const path = join(folder, `${name}.pem`)
  writeFileSync(path, certificate.toString('pem'))
  return path
}

async function writeKey(name: string, { keys }: Signed): Promise<string> {
  const path = join(folder, `${name}-key.pem`)
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  writeFileSync(path, PemConverter.encode(key, 'PRIVATE KEY'), { mode: 0o600 })
  return path
}

export const certifiedDeviceId = 'tls-device'

const ca = await authority('Jobcast test CA')
const server = await makeCertificate('localhost', ofServer, ca)
const device = await makeCertificate(certifiedDeviceId, ofClient, ca)
const stranger = await makeCertificate(certifiedDeviceId, ofClient, await authority('Somebody else'))

/** Paths of PEM files. The stranger's certificate names the same device, but is signed by another authority. */
export const certificates = {
  ca: writeCertificate('ca', ca),
  serverCert: writeCertificate('server', server),
  serverKey: await writeKey('server', server),
  deviceCert: writeCertificate('device', device),
  deviceKey: await writeKey('device', device),
  strangerCert: writeCertificate('stranger', stranger),
  strangerKey: await writeKey('stranger', stranger),
}

/** A new server certificate for the same names, as after a renewal. */
export async function renewServerCertificate(): Promise<{ cert: string; key: string }> {
  const renewed = await makeCertificate('localhost', ofServer, ca)
  return { cert: writeCertificate('renewed', renewed), key: await writeKey('renewed-key', renewed) }
}

/** Expired yesterday, for the same names. */
export async function makeExpiredServerCertificate(): Promise<{ cert: string; key: string }> {
  const expired = await makeCertificate('localhost', ofServer, ca, Date.now() - day)
  return { cert: writeCertificate('expired', expired), key: await writeKey('expired', expired) }
}

/** A client's certificate for this name, by the same authority; with an owner, that is its O. */
export async function makeClientCertificate(
  name: string,
  { isExpired = false, owner }: { isExpired?: boolean; owner?: string } = {},
): Promise<{ cert: string; key: string }> {
  const file = `client-${++serial}`
  const subject = owner === undefined ? name : `${name}, O=${owner}`
  const made = await makeCertificate(subject, ofClient, ca, Date.now() + (isExpired ? -day : day))
  return { cert: writeCertificate(file, made), key: await writeKey(file, made) }
}

/** A new revocation list of the authority, in PEM. */
export async function makeRevocationList(...revoked: ('deviceCert' | 'serverCert')[]): Promise<string> {
  const signed = { deviceCert: device, serverCert: server }
  const list = await X509CrlGenerator.create({
    issuer: ca.certificate.subject,
    thisUpdate: new Date(Date.now() - day),
    nextUpdate: new Date(Date.now() + day),
    entries: revoked.map((name) => ({
      serialNumber: signed[name].certificate.serialNumber,
      revocationDate: new Date(),
    })),
    signingKey: ca.keys.privateKey,
    signingAlgorithm: signing,
  })
  return PemConverter.encode(list.rawData, 'X509 CRL')
}
