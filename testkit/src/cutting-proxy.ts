// A line to the server that breaks: real TCP, cut in the midst of an answer.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type CuttingProxy = {
  readonly url: string
  /** How many connections there were. */
  readonly connections: number
  /** How many bytes of answers each of the next connections lets through; 0 cuts when the answer begins. */
  cutNext(...bytes: number[]): void
}

export async function openCuttingProxy(t: TestContext, http: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(http)
  const limits: number[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((inner) => {
    connections++
    let left = limits.shift() ?? Number.POSITIVE_INFINITY
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
    outer.on('data', (chunk) => {
      const passed = chunk.subarray(0, Math.min(left, chunk.length))
      left -= chunk.length
      if (left >= 0) inner.write(passed)
      else inner.end(passed, () => inner.destroy())
    })
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
  }
}
