// MQTT over TCP or TLS, on its own port.

import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Tell } from '../../observe/events.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { normalizeSerial, revokedSerials, splitRevocationLists } from './revoked-serials.ts'
import type { CertificateSubject } from './sign-in-device.ts'
import { watchFile } from './watch-file.ts'

export type TlsOptions = {
  cert: string
  key: string
  deviceCa: string | undefined
  /** File with revocation lists; read again when it changes. */
  deviceCrlFile?: string | undefined
}

const handshakeWithinMs = 5000

/** `cut` destroys connections whose TLS handshake is not finished, and ends what runs besides. */
type SocketServer = { server: Server; cut: () => void; renew: (pair: KeyPair) => void }

export type KeyPair = { cert: string; key: string }

export function buildSocketServer(connections: Connections): SocketServer {
  const server = createServer({ noDelay: true }, (socket) => {
    attach(socket, undefined, connections)
  })
  return { server, cut: () => undefined, renew: () => undefined }
}

export function buildTlsServer(
  { cert, key, deviceCa, deviceCrlFile }: TlsOptions,
  connections: Connections,
  tell: Tell,
): SocketServer {
  let pair: KeyPair = { cert, key }
  let lists = deviceCrlFile === undefined ? [] : splitRevocationLists(readFileSync(deviceCrlFile, 'utf8'))
  const trust = (crl: string[]) => ({
    ...pair,
    ...(deviceCa && { ca: deviceCa }),
    ...(crl.length > 0 && { crl }),
  })
  const server = createTlsServer(
    {
      ...trust(lists),
      noDelay: true,
      handshakeTimeout: handshakeWithinMs,
      // A device without a certificate may sign in with a token.
      ...(deviceCa && { requestCert: true, rejectUnauthorized: false }),
    },
    (socket) => {
      const subject = deviceCa === undefined ? undefined : subjectOf(socket)
      attach(socket, subject, connections)
    },
  )
  const raw = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    raw.add(socket)
    socket.once('close', () => raw.delete(socket))
  })
  const stopWatching =
    deviceCrlFile === undefined
      ? () => undefined
      : watchFile(
          deviceCrlFile,
          (pem) => {
            const crl = splitRevocationLists(pem)
            if (crl.length === 0) throw new Error('the file has no revocation list')
            const serials = revokedSerials(crl)
            // With new keys for tickets: what was trusted before is not resumed without looking at the list.
            lists = crl
            server.setSecureContext(trust(crl))
            connections.endRevoked(serials)
            tell({ kind: 'device-crl-read', revoked: serials.size })
          },
          (error) => tell({ kind: 'device-crl-failed', error }),
        )
  server.on('tlsClientError', (error) => tell({ kind: 'tls-handshake-failed', error }))
  return {
    server,
    // Connections that are open keep what they have.
    renew(next) {
      pair = next
      server.setSecureContext(trust(lists))
    },
    cut() {
      stopWatching()
      for (const socket of raw) socket.destroy()
    },
  }
}

function attach(socket: Socket, subject: CertificateSubject | undefined, connections: Connections): void {
  const address = socket.remoteAddress ?? ''
  const connection = connections.add({ stream: socket, transport: 'mqtt', address, subject })
  Object.assign(socket, { connection })
  socket.on('data', received).on('drain', drained).on('close', closed).on('error', ignore)
}

/** Functions for all sockets: closures of each would take a tenth of what a connection takes. */
type Attached = Socket & { readonly connection: Connection }

function drained(this: Attached): void {
  this.connection.drained()
}

function closed(this: Attached): void {
  this.connection.closed()
}

function received(this: Attached, chunk: Buffer): void {
  this.connection.receive(chunk)
}

/** A close event follows. */
function ignore(): void {}

/** A subject with repeated names is rejected. */
function subjectOf(socket: TLSSocket): CertificateSubject | undefined {
  if (!socket.authorized) return undefined
  const { subject, serialNumber = '' } = socket.getPeerCertificate()
  const { CN: commonName, O: organization } = subject ?? {}
  if (typeof commonName !== 'string' || Array.isArray(organization)) return undefined
  return { commonName, organization, serial: normalizeSerial(serialNumber) }
}
