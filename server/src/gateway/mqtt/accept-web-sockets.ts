// MQTT over WebSocket, on the port of the HTTP API: GET /mqtt with the subprotocol `mqtt`.

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { clientAddress, type IsTrustedProxy } from '../../limits/client-address.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { maxPacketSize } from './frame-rules.ts'
import { WebSocketStream } from './web-socket-stream.ts'

const path = '/mqtt'
// The second is what AWS's old JavaScript SDK offers, whatever MQTT version it uses.
const subprotocols = ['mqtt', 'mqttv3.1']
const maxHeaderSize = 5
const maxFragments = 1024
const onlyBinary = 1003

/** Returns a function that stops accepting. */
export function acceptWebSockets(
  http: Server,
  connections: Connections,
  isTrustedProxy: IsTrustedProxy | undefined,
): () => void {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPacketSize + maxHeaderSize,
    maxFragments,
    // One frame of a connection per turn of the event loop; and pings are answered below, where they are counted.
    allowSynchronousEvents: false,
    autoPong: false,
    handleProtocols: (offered) => subprotocols.find((name) => offered.has(name)) ?? false,
  })
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', ignore)
    const status = refusalOf(request)
    if (status !== undefined) refuse(socket, status)
    else
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const peer = request.socket.remoteAddress ?? ''
        const address = clientAddress(peer, request.headers['x-forwarded-for'], isTrustedProxy)
        attach(webSocket, socket, address, connections)
      })
  }
  http.on('upgrade', upgrade)
  return () => {
    http.off('upgrade', upgrade)
  }
}

function attach(webSocket: WebSocket, socket: Duplex, address: string, connections: Connections): void {
  const stream = new WebSocketStream(webSocket, socket)
  const connection = connections.add({ stream, transport: 'websocket', address })
  webSocket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) connection.receive(data)
    else refuseText(webSocket, connection)
  })
  webSocket.on('ping', (data) => {
    if (connection.countControlFrame()) webSocket.pong(data, false, ignore)
  })
  webSocket.on('pong', () => connection.countControlFrame())
  webSocket.on('close', () => connection.closed())
  webSocket.on('error', ignore)
  // `ws` has no event for this.
  socket.on('drain', () => connection.drained())
}

function refuseText(webSocket: WebSocket, connection: Connection): void {
  webSocket.close(onlyBinary)
  connection.end('malformed')
}

function refusalOf({ url = '', headers }: IncomingMessage): 404 | 400 | undefined {
  if (url.split('?', 1)[0] !== path) return 404
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim())
  return offered?.some((name) => subprotocols.includes(name)) ? undefined : 400
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.once('finish', () => socket.destroy())
}

/** A close event follows. */
function ignore(): void {}
