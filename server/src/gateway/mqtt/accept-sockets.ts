// MQTT over TCP or TLS, on its own port.

import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Tell } from '../../observe/events.ts'
import type { CertificateSubject, ListenerTls } from '../certificates/listener-tls.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'

const handshakeWithinMs = 5000

/** `cut` destroys connections, including those in a TLS handshake. */
type SocketServer = { server: Server; cut: () => void }

export function buildSocketServer(connections: Connections): SocketServer {
  const server = createServer({ noDelay: true }, (socket) => {
    attach(socket, undefined, connections)
  })
  return { server, cut: () => undefined }
}

export function buildTlsServer(tls: ListenerTls, connections: Connections, tell: Tell): SocketServer {
  const server = createTlsServer(
    { ...tls.serverOptions, noDelay: true, handshakeTimeout: handshakeWithinMs },
    (socket) => attach(socket, tls.subjectOf(socket), connections),
  )
  tls.serve(server)
  tls.onRevoked((serials) => connections.endRevoked(serials))
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
  Object.assign(socket, { connection })
  socket.on('data', received).on('drain', drained).on('close', closed).on('error', ignore)
}

/** Handlers are shared by all sockets: closures per socket would take a tenth of a connection's memory. */
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
