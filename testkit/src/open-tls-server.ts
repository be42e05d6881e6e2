// A server with TLS that trusts certificates of devices.

import { readFileSync } from 'node:fs'
import { setDefaultCACertificates } from 'node:tls'
import { certificates } from './certificates.ts'
import type { OpenServer } from './open-server.ts'
import { openSharedServer } from './shared-server.ts'

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

/** The certificate of the server is for this address, and it has one: localhost may be ::1 first, where nobody listens. */
export const tlsHost = '127.0.0.1'

export function mqttPortOf({ server }: OpenServer): number {
  return Number(new URL(server.mqtt).port)
}
