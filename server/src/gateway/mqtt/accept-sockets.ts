// MQTT over TCP or TLS, on its own port.

import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Tell } from '../../observe/events.ts'
import type { Connections } from './connections.ts'
import type { CertificateSubject } from './sign-in-device.ts'

export type TlsOptions = { cert: string; key: string; deviceCa: string | undefined }

const handshakeWithinMs = 5000

/** `cut` destroys connections whose TLS handshake is not finished. */
export type SocketServer = { server: Server; cut: () => void }

export function buildSocketServer(connections: Connections): SocketServer {
  const server = createServer({ noDelay: true }, (socket) => attach(socket, undefined, connections))
  return { server, cut: () => undefined }
}

export function buildTlsServer(
  { cert, key, deviceCa }: TlsOptions,
  connections: Connections,
  tell: Tell,
): SocketServer {
  const server = createTlsServer(
    {
      cert,
      key,
      noDelay: true,
      handshakeTimeout: handshakeWithinMs,
      // A device without a certificate may sign in with a token.
      ...(deviceCa && { ca: deviceCa, requestCert: true, rejectUnauthorized: false }),
    },
    (socket) => attach(socket, deviceCa === undefined ? undefined : subjectOf(socket), connections),
  )
  const raw = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    raw.add(socket)
    socket.once('close', () => raw.delete(socket))
  })
  server.on('tlsClientError', (error) => tell({ kind: 'tls-handshake-failed', error }))
  return {
    server,
    cut() {
      for (const socket of raw) socket.destroy()
    },
  }
}

function attach(socket: Socket, subject: CertificateSubject | undefined, connections: Connections): void {
  const address = socket.remoteAddress ?? ''
  const connection = connections.add({ stream: socket, transport: 'mqtt', address, subject })
  socket.on('data', (chunk: Buffer) => connection.receive(chunk))
  socket.on('drain', () => connection.drained())
  socket.on('close', () => connection.closed())
  // A close event follows.
  socket.on('error', () => undefined)
}

/** A subject with repeated names is rejected. */
function subjectOf(socket: TLSSocket): CertificateSubject | undefined {
  if (!socket.authorized) return undefined
  const { CN: commonName, O: organization } = socket.getPeerCertificate().subject ?? {}
  if (typeof commonName !== 'string' || Array.isArray(organization)) return undefined
  return { commonName, organization }
}
