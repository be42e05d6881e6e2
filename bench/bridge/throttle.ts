// A proxy before a broker that passes on what clients send at a limited rate. What the broker sends passes at once.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Throttle = { port: number; limit(bytesPerSecond: number): void; close(): void }

const tickMs = 20

export async function openThrottle(brokerPort: number): Promise<Throttle> {
  let perTick = Number.POSITIVE_INFINITY
  const closing = new Set<() => void>()
  const server = createServer({ noDelay: true }, (client) => {
    const broker = connect({ host: '127.0.0.1', port: brokerPort, noDelay: true })
    broker.pipe(client)
    closing.add(forward(client, broker, () => perTick))
    for (const end of [client, broker]) end.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    limit(bytesPerSecond) {
      perTick = Math.floor((bytesPerSecond * tickMs) / 1000)
    },
    close() {
      for (const close of closing) close()
      server.close()
    },
  }
}

/** Reads only what it may pass on, so that the rest waits in the buffers of the client. */
function forward(client: Socket, broker: Socket, perTick: () => number): () => void {
  const pump = () => {
    const available = Math.min(client.readableLength, perTick())
    const chunk = available > 0 ? client.read(available) : null
    if (chunk !== null) broker.write(chunk)
  }
  // With a listener for `readable`, the socket reads until its own buffer is full.
  client.on('readable', () => {
    if (perTick() === Number.POSITIVE_INFINITY) pump()
  })
  const timer = setInterval(pump, tickMs)
  const close = () => {
    clearInterval(timer)
    client.destroy()
    broker.destroy()
  }
  client.on('close', close)
  broker.on('close', close)
  return close
}
