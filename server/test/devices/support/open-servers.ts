// The two servers that devices are tried with: one without TLS, and one with TLS that trusts certificates of devices.

import { readFileSync } from 'node:fs'
import { setDefaultCACertificates } from 'node:tls'
import { openSharedServer } from '../../http/shared-server.ts'
import { certificates } from '../../support/certificates.ts'
import type { OpenServer } from '../../support/open-server.ts'

export function openTlsServer(): Promise<OpenServer> {
  const ca = readFileSync(certificates.ca, 'utf8')
  // For `fetch`, which takes no certificates by itself. Each test file is a process of its own.
  setDefaultCACertificates([ca])
  return openSharedServer({
    tls: {
      cert: readFileSync(certificates.serverCert, 'utf8'),
      key: readFileSync(certificates.serverKey, 'utf8'),
    },
    deviceCa: ca,
  })
}

/** The certificate of the server is for this name. */
export const tlsHost = 'localhost'

export function mqttPortOf({ server }: OpenServer): number {
  return Number(new URL(server.mqtt).port)
}
