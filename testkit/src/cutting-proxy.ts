// A proxy for broken connections to the server: real TCP that is cut in the middle of a response, or stalls.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type CuttingProxy = {
  readonly url: string
  /** How many connections there were. */
  readonly connections: number
  /** How many response bytes each of the next connections lets through; 0 cuts when the response begins. */
  cutNext(...bytes: number[]): void
  /** Cuts all connections and returns their number. */
  cutAll(): number
  /** From now on nothing passes on old and new connections, without an error. */
  stall(): void
  /** Lets everything pass that was held up. */
  resume(): void
}

/** `address` is that of the server, or a function for the current one; while it is undefined, connections are cut at once. */
export async function openCuttingProxy(
  t: Pick<TestContext, 'after'>,
  address: string | (() => string | undefined),
): Promise<CuttingProxy> {
  const limits: number[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let isStalled = false
  const server = createServer((inner) => {
    connections++
    const current = typeof address === 'string' ? address : address()
    if (current === undefined) {
      inner.on('error', () => {})
      inner.resetAndDestroy()
      return
    }
    let left = limits.shift() ?? Number.POSITIVE_INFINITY
    const { hostname, port } = new URL(current)
    const outer = connect(Number(port), hostname)
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    inner.on('data', (chunk) => outer.write(chunk))
    outer.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, Math.min(left, chunk.length))
      left -= chunk.length
      if (left >= 0) inner.write(passed)
      else inner.end(passed, () => inner.destroy())
    })
    if (isStalled) for (const socket of [inner, outer]) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections
    },
    cutNext: (...bytes) => void limits.push(...bytes),
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    cutAll() {
      const cut = [...sockets]
      for (const socket of cut) socket.destroy()
      // Each connection has a socket to the client and one to the server.
      return cut.length / 2
    },
  }
}
