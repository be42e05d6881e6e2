// Sends raw bytes, for requests that no well-behaved client can send.

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export type RawReply = {
  status: number
  head: string
  body: string
  text: string
  ms: number
  closed: boolean
}

/** A failsafe, far above the time that a server takes to close a connection as announced. */
const closeMs = 120_000

/**
 * Sends the bytes, or one piece after the other, and returns the responses: once the server has closed the connection, or once it has sent this many
 * responses without announcing a close.
 */
export function sendRaw(
  http: string,
  sent: string | Buffer | AsyncIterable<string | Buffer>,
  answers = 1,
): Promise<RawReply> {
  const { protocol, hostname, port } = new URL(http)
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    /** One character per byte, so that its length is in bytes. */
    let received = ''
    const onConnect = () => {
      if (typeof sent === 'string' || Buffer.isBuffer(sent)) socket.write(sent)
      else writePieces(socket, sent).catch(reject)
    }
    const to = { port: Number(port), host: hostname }
    const socket: Socket = protocol === 'https:' ? connectTls(to, onConnect) : connect(to, onConnect)
    const finish = (closed: boolean) => {
      socket.destroy()
      const text = Buffer.from(received, 'latin1').toString()
      const [head = '', ...rest] = text.split('\r\n\r\n')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0)
      resolve({
        status,
        head,
        body: rest.join('\r\n\r\n'),
        text,
        ms: performance.now() - begun,
        closed,
      })
    }
    socket.setTimeout(closeMs)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (isWholeAndStaysOpen(received, answers)) finish(false)
    })
    socket.on('timeout', () => finish(false))
    socket.on('end', () => finish(true))
    socket.on('close', () => finish(true))
    socket.on('error', (error) => (received === '' ? reject(error) : finish(true)))
  })
}

async function writePieces(socket: Socket, pieces: AsyncIterable<string | Buffer>): Promise<void> {
  for await (const piece of pieces) socket.write(piece)
}

function isWholeAndStaysOpen(received: string, answers: number): boolean {
  let begin = 0
  for (let answer = 0; answer < answers; answer++) {
    const end = received.indexOf('\r\n\r\n', begin)
    if (end === -1) return false
    const head = received.slice(begin, end).toLowerCase()
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
    const isInterim = /^http\/1\.1 1/.test(head)
    if (isInterim || length === undefined || /\r\nconnection: close/.test(head)) return false
    begin = end + 4 + Number(length)
  }
  return received.length >= begin
}
