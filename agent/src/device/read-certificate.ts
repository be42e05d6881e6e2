// The certificate with which a device signs in to the user's own broker.

import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { systemReason } from '@jobcast/contract/words'
import { readPrivateFile } from './read-token.ts'

/** PEM. */
export type Certificate = { cert: string; key: string }

const longestKey = 64 * 1024

/** Throws an error whose message says what is wrong with the files. */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  const key = readPrivateFile(keyFile, 'key', longestKey)
  const certificate = { cert: readText(certFile), key }
  try {
    createSecureContext(certificate)
  } catch (error) {
    throw new Error(
      `${certFile} and ${keyFile} are not a certificate and its key: ${(error as Error).message}`,
    )
  }
  return certificate
}

function readText(certFile: string): string {
  try {
    return readFileSync(certFile, 'utf8')
  } catch (error) {
    throw new Error(`the certificate ${certFile} cannot be read: ${systemReason(error as Error)}`)
  }
}
