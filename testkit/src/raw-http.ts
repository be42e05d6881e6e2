// Bytes as they are, for requests that no well-behaved client can send.

import { connect } from 'node:net'

export type RawReply = {
  status: number
  head: string
  body: string
  text: string
  ms: number
  closed: boolean
}

/**
 * Sends the text and gives what came back once the server closed the connection, or once an answer was
 * there and `lingerMs` went by without a close: a failsafe, far above what a server takes to close.
 */
export function sendRaw(http: string, text: string | Buffer, lingerMs = 15_000): Promise<RawReply> {
  const { hostname, port } = new URL(http)
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const finish = (closed: boolean) => {
      socket.destroy()
      const [head = '', ...rest] = received.split('\r\n\r\n')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0)
      resolve({
        status,
        head,
        body: rest.join('\r\n\r\n'),
        text: received,
        ms: performance.now() - begun,
        closed,
      })
    }
    socket.on('data', (chunk) => {
      received += chunk
      socket.setTimeout(lingerMs)
    })
    socket.on('timeout', () => finish(false))
    socket.on('end', () => finish(true))
    socket.on('close', () => finish(true))
    socket.on('error', (error) => (received === '' ? reject(error) : finish(true)))
  })
}
