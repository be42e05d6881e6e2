// All connections of the door. Once a second each is asked for its time: a timer for each of 20,000, set anew with
// each packet, would cost more than the packets.

import type { BothClocks } from '../../domain/instants.ts'
import type { Door } from '../../domain/store.ts'
import type { Tell } from '../../observe/events.ts'
import type { ByteStream } from './byte-stream.ts'
import { Connection, type Surroundings } from './connection.ts'
import { Handshake, type HandshakeDeps } from './handshake.ts'
import type { CertificateSubject } from './sign-in-device.ts'

const checkEveryMs = 1000
/** A check that comes so late says nothing about the devices: it was we who did not listen. */
const tooLateMs = 3000

export class Connections implements Surroundings {
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

  add(stream: ByteStream, door: Door, subject: CertificateSubject | undefined): Connection {
    const connection = new Connection(this, stream, door, (line) => new Handshake(this.#deps, line, subject))
    this.#all.add(connection)
    if (this.#isStopping) connection.stop()
    return connection
  }

  gone(connection: Connection): void {
    this.#all.delete(connection)
    if (this.#all.size === 0) this.#whenNone?.()
  }

  /** Resolves when all are gone and nothing of theirs is under way. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve
    })
    for (const connection of this.#all) connection.stop()
    if (this.#all.size > 0) await none
    clearInterval(this.#timer)
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
