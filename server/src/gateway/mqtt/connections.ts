// All connections of the listener. Once a second each checks its deadlines: a timer per connection, reset by every
// packet, would cost more than the packets do at 20,000 connections.

import type { BothClocks } from '../../domain/common/instants.ts'
import type { Tell } from '../../observe/events.ts'
import { Connection, type ConnectionContext, type Peer } from './connection.ts'
import { Handshake, type HandshakeDeps } from './handshake.ts'

const checkEveryMs = 1000
/** A check that is this late says nothing about devices: our own event loop was blocked. */
const tooLateMs = 3000

export class Connections implements ConnectionContext {
  now: BothClocks
  readonly tell: Tell
  readonly #deps: HandshakeDeps
  readonly #all = new Set<Connection>()
  #timer: NodeJS.Timeout | undefined
  #isStopping = false
  #whenNone: (() => void) | undefined

  constructor(deps: HandshakeDeps) {
    this.#deps = deps
    this.tell = deps.tell
    this.now = deps.moment()
  }

  start(): void {
    this.#timer = setInterval(() => this.#check(), checkEveryMs)
    this.#timer.unref()
  }

  add(peer: Peer): Connection {
    const connection = new Connection(this, peer, (line) => new Handshake(this.#deps, line, peer.subject))
    this.#all.add(connection)
    if (this.#isStopping) connection.stop()
    return connection
  }

  gone(connection: Connection): void {
    this.#all.delete(connection)
    if (this.#all.size === 0) this.#whenNone?.()
  }

  /** Resolves when all are closed and have no work in progress. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve
    })
    for (const connection of this.#all) connection.stop()
    if (this.#all.size > 0) await none
    clearInterval(this.#timer)
  }

  /** Ends connections with these serial numbers. Serials may repeat across CAs; a device that is still trusted can reconnect. */
  endRevoked(serials: ReadonlySet<string>): void {
    for (const connection of this.#all) {
      if (connection.serial !== undefined && serials.has(connection.serial)) connection.end('credential-void')
    }
  }

  destroyAll(): void {
    for (const connection of this.#all) connection.destroy()
  }

  #check(): void {
    const { now } = this
    this.now = this.#deps.moment()
    if (this.now.clock - now.clock > tooLateMs) return
    for (const connection of this.#all) connection.checkTime()
  }
}
