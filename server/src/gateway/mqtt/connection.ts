// One connection from its first byte to its last: cuts what comes into packets for the phase it is in, holds the
// network back while that takes no more, and watches the time.

import type { BothClocks } from '../../domain/instants.ts'
import type { Door } from '../../domain/store.ts'
import type { Tell } from '../../observe/events.ts'
import type { ByteStream } from './byte-stream.ts'
import { Frames } from './frames.ts'
import type { Line, Phase } from './phase.ts'
import { ProtocolError, type Reason } from './reason.ts'

/** What a connection must know of the door it came through. */
export type Surroundings = {
  /** Up to a second old: exact enough to measure silence by, and it costs nothing. */
  readonly now: BothClocks
  readonly tell: Tell
  /** It is closed, and nothing of it is under way. */
  gone(connection: Connection): void
}

const nowIsStaleMs = 1000
const endWithinMs = 1000

export class Connection implements Line {
  readonly stream: ByteStream
  readonly door: Door
  readonly #around: Surroundings
  readonly #frames = new Frames()
  #phase: Phase
  #heardAt: number
  #endReason: Reason | undefined
  #endedAt = 0
  #isClosed = false
  #isTaking = false
  #isPaused = false

  constructor(around: Surroundings, stream: ByteStream, door: Door, firstPhase: (line: Line) => Phase) {
    this.#around = around
    this.stream = stream
    this.door = door
    this.#heardAt = around.now.clock
    this.#phase = firstPhase(this)
  }

  get lastSeenAt(): number {
    const { at, clock } = this.#around.now
    return at - (clock - this.#heardAt)
  }

  get isOpen(): boolean {
    return this.#endReason === undefined && !this.#isClosed
  }

  enter(phase: Phase): void {
    this.#phase = phase
  }

  receive(chunk: Buffer): void {
    // Who is being sent away may finish its sentence, unheard: to close with bytes unread would reset the
    // connection, and a reset can overtake our last words.
    if (!this.isOpen) return
    this.#frames.push(chunk)
    this.#takeMore()
  }

  drained(): void {
    if (!this.isOpen) return
    try {
      this.#phase.drained()
    } catch (error) {
      this.#fail(error)
    }
    this.#takeMore()
  }

  goOn(): void {
    if (this.isOpen) this.#takeMore()
    else if (this.#isClosed && !this.#phase.isBusy) this.#around.gone(this)
  }

  stop(): void {
    if (this.isOpen) this.#phase.stop()
  }

  end(reason: Reason): void {
    if (!this.isOpen) return
    this.#endReason = reason
    this.#endedAt = this.#around.now.clock
    const lastWords = this.#phase.lastWords(reason)
    if (lastWords && this.stream.writable) this.stream.write(lastWords)
    this.stream.end()
    this.#frames.clear()
    this.#setPaused(false)
  }

  destroy(): void {
    this.stream.destroy()
  }

  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#frames.clear()
    this.#phase.closed(this.#endReason)
    if (!this.#phase.isBusy) this.#around.gone(this)
  }

  /** Asked about every second. */
  checkTime(): void {
    const { clock } = this.#around.now
    if (this.#endReason !== undefined) {
      if (clock - this.#endedAt > endWithinMs) this.stream.destroy()
      return
    }
    const overdue = this.#phase.overdue(clock)
    // Whom we do not listen to is not silent.
    if (this.#isPaused || this.#phase.isBusy) this.#heardAt = clock
    const isSilent = clock - this.#heardAt > this.#phase.silenceMs + nowIsStaleMs
    if (overdue !== undefined) this.end(overdue)
    else if (isSilent) this.end('too-silent')
  }

  #takeMore(): void {
    // A packet that is served at once leads back here.
    if (this.#isTaking) return
    this.#isTaking = true
    try {
      while (this.isOpen && this.#phase.takesMore) {
        const frame = this.#frames.next(this.#phase.rules)
        if (frame === undefined) break
        this.#heardAt = this.#around.now.clock
        this.#phase.take(frame)
      }
    } catch (error) {
      this.#fail(error)
    }
    this.#isTaking = false
    if (this.isOpen) this.#setPaused(!this.#phase.takesMore)
  }

  #fail(error: unknown): void {
    const isTheirs = error instanceof ProtocolError
    if (!isTheirs) this.#around.tell({ kind: 'device-connection-failed', door: this.door, error })
    this.end(isTheirs ? error.reason : 'internal-error')
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#isPaused) return
    this.#isPaused = paused
    if (paused) this.stream.pause()
    else this.stream.resume()
  }
}
