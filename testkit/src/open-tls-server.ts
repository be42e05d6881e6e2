// A server with TLS that accepts client certificates of devices.

import { readFileSync } from 'node:fs'
import { setDefaultCACertificates } from 'node:tls'
import { certificates } from './certificates.ts'
import type { OpenServer } from './open-server.ts'
import { openSharedServer } from './shared-server.ts'

export function openTlsServer(): Promise<OpenServer> {
  const ca = readFileSync(certificates.ca, 'utf8')
  // `fetch` takes no certificates of its own. Each test file is a separate process.
  setDefaultCACertificates([ca])
  return openSharedServer({
    tls: {
      cert: readFileSync(certificates.serverCert, 'utf8'),
      key: readFileSync(certificates.serverKey, 'utf8'),
    },
    deviceCa: ca,
  })
}

/** The server's certificate is for this address. Not localhost, which may resolve to ::1 first, where nothing listens. */
export const tlsHost = '127.0.0.1'

export function mqttPortOf({ server }: OpenServer): number {
  return Number(new URL(server.mqtt).port)
}
