// Reads certificate and key of the service again, for new connections. Open ones keep the certificate they have.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { TlsFiles } from '../config/config.ts'
import type { Tell } from '../observe/events.ts'

type KeyPair = { cert: string; key: string }

/** If the files cannot be used, nothing changes, and the log says why. */
export async function reloadCertificate(
  files: TlsFiles,
  use: (pair: KeyPair) => void,
  tell: Tell,
): Promise<void> {
  try {
    const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
    // Throws if they do not match: during a renewal one of them may be the old one.
    createSecureContext({ cert, key })
    use({ cert, key })
    tell({ kind: 'certificate-read', validTo: new Date(new X509Certificate(cert).validTo).toISOString() })
  } catch (error) {
    tell({ kind: 'certificate-failed', error })
  }
}
