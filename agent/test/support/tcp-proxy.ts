// A proxy to the server that can be cut at any time, and closed for a while. It does not use resetAndDestroy: with a
// shutdown in progress that leaks the handle, and the process never ends (Node 24.21 and 26.10).

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class TcpProxy {
  readonly #server: Server
  readonly #target: () => Promise<string>
  readonly #sockets = new Set<Socket>()
  /** While closed, new connections are cut at once. */
  isClosed = false
  /** The number of forwarded connections. */
  connections = 0
  /** Called for every chunk that is sent to the server. */
  onUpstream: (bytes: number) => void = () => undefined

  private constructor(target: () => Promise<string>) {
    this.#target = target
    this.#server = createServer((socket) => void this.#accept(socket))
  }

  /** `target` gives an address (http:// or mqtt://) of the server that runs, or will run next. */
  static async open(target: () => Promise<string>): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** host:port */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get open(): number {
    return this.#sockets.size
  }

  /** Cuts all connections, as if the cable was unplugged. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** One of those that are open; false if there is none. */
  cutOne(pick: <T>(from: readonly T[]) => T): boolean {
    if (this.#sockets.size === 0) return false
    pick([...this.#sockets]).destroy()
    return true
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on('error', () => undefined)
    if (this.isClosed) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const { hostname, port } = new URL(await this.#target())
    const upstream = connect(Number(port), hostname)
    this.connections++
    upstream.on('error', () => undefined)
    upstream.once('close', () => socket.destroy())
    socket.once('close', () => upstream.destroy())
    socket.on('data', (chunk) => this.onUpstream(chunk.length))
    socket.pipe(upstream).pipe(socket)
    if (socket.destroyed) upstream.destroy()
  }
}
