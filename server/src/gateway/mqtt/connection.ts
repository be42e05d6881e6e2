// One connection from its first byte to its last: splits input into packets for the current phase, pauses the network
// while the phase accepts no more, and enforces deadlines.

import type { BothClocks } from '../../domain/common/instants.ts'
import type { Transport } from '../../domain/device/ports/presence.ts'
import type { Tell } from '../../observe/events.ts'
import type { CertificateSubject } from '../certificates/listener-tls.ts'
import type { ByteStream } from './byte-stream.ts'
import { Frames } from './frames.ts'
import type { Line, Phase } from './phase.ts'
import { ProtocolError, type Reason } from './reason.ts'

/** What a connection needs from its listener. */
export type ConnectionContext = {
  /** Up to a second old: precise enough for deadlines, and free. */
  readonly now: BothClocks
  readonly tell: Tell
  /** The connection is closed and has no work in progress. */
  gone(connection: Connection): void
}

/** The other end of the connection. `subject`: from a trusted certificate. */
export type Peer = {
  stream: ByteStream
  transport: Transport
  address: string
  subject?: CertificateSubject | undefined
}

const nowIsStaleMs = 1000
// Limits of one connection per turn of the event loop, so that others get their turn.
const packetsPerTurn = 32
const bytesPerTurn = 16 * 1024
// A device on a busy machine takes more than a second to read our last packet, and a reset would take it away. Below the
// 5 s within which the connection of a revoked device must be closed.
const endWithinMs = 2500

export class Connection implements Line {
  readonly stream: ByteStream
  readonly transport: Transport
  readonly address: string
  /** Serial number of its trusted certificate. */
  readonly serial: string | undefined
  readonly #context: ConnectionContext
  readonly #frames = new Frames()
  #phase: Phase
  #lastPacketAt: number
  #endReason: Reason | undefined
  #endedAt = 0
  #isClosed = false
  #isProcessing = false
  #isYielding = false
  #isHeld = false
  #isPaused = false

  constructor(context: ConnectionContext, peer: Peer, firstPhase: (line: Line) => Phase) {
    this.#context = context
    this.stream = peer.stream
    this.transport = peer.transport
    this.address = peer.address
    this.serial = peer.subject?.serial
    this.#lastPacketAt = context.now.clock
    this.#phase = firstPhase(this)
  }

  get lastSeenAt(): number {
    const { at, clock } = this.#context.now
    return at - (clock - this.#lastPacketAt)
  }

  get isOpen(): boolean {
    return this.#endReason === undefined && !this.#isClosed
  }

  enter(phase: Phase): void {
    this.#phase = phase
  }

  receive(chunk: Buffer): void {
    // After we have ended the connection, input is read and discarded: closing with unread bytes would reset it, and the
    // reset can overtake our last packet.
    if (!this.isOpen) return
    this.#frames.push(chunk)
    this.#processFrames()
  }

  /** False: the connection has ended. */
  countControlFrame(): boolean {
    if (!this.isOpen) return false
    try {
      this.#phase.countControlFrame()
    } catch (error) {
      this.#fail(error)
    }
    return this.isOpen
  }

  drained(): void {
    if (!this.isOpen) return
    try {
      this.#phase.drained()
    } catch (error) {
      this.#fail(error)
    }
    this.#processFrames()
  }

  proceed(): void {
    if (this.isOpen) this.#processFrames()
    else if (this.#isClosed && !this.#phase.isBusy) this.#context.gone(this)
  }

  hold(): void {
    this.#isHeld = true
    this.#adjustPause()
  }

  release(): void {
    this.#isHeld = false
    this.#adjustPause()
  }

  stop(): void {
    if (this.isOpen) this.#phase.stop()
  }

  end(reason: Reason): void {
    if (!this.isOpen) return
    this.#endReason = reason
    this.#endedAt = this.#context.now.clock
    const lastPacket = this.#phase.lastPacket(reason)
    if (lastPacket && this.stream.writable) this.stream.write(lastPacket)
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
    if (!this.#phase.isBusy) this.#context.gone(this)
  }

  /** Called about once a second. */
  checkTime(): void {
    const { clock } = this.#context.now
    if (this.#endReason !== undefined) {
      if (clock - this.#endedAt > endWithinMs) this.stream.destroy()
      return
    }
    const overdue = this.#phase.overdue(clock)
    // A paused connection is not silent.
    if (this.#isPaused || this.#phase.isBusy) this.#lastPacketAt = clock
    const isSilent = clock - this.#lastPacketAt > this.#phase.silenceMs + nowIsStaleMs
    if (overdue !== undefined) this.end(overdue)
    else if (isSilent) this.end('too-silent')
  }

  #processFrames(): void {
    // A packet that is served synchronously re-enters here.
    if (this.#isProcessing || this.#isYielding) return
    this.#isProcessing = true
    try {
      this.#processSome()
    } catch (error) {
      this.#fail(error)
    }
    this.#isProcessing = false
    this.#adjustPause()
  }

  #processSome(): void {
    let bytes = 0
    let isCorked = false
    try {
      for (let packets = 0; this.isOpen && this.#phase.acceptsMore; packets++) {
        if (packets === packetsPerTurn || bytes >= bytesPerTurn) {
          if (!this.#frames.isEmpty) this.#yield()
          return
        }
        const frame = this.#frames.next(this.#phase.rules)
        if (frame === undefined) return
        // Answers to several packets are sent together.
        if (!isCorked && !this.#frames.isEmpty) {
          isCorked = true
          this.stream.cork()
        }
        bytes += frame.length
        this.#lastPacketAt = this.#context.now.clock
        this.#phase.process(frame)
      }
    } finally {
      if (isCorked) this.stream.uncork()
    }
  }

  #yield(): void {
    this.#isYielding = true
    setImmediate(() => {
      this.#isYielding = false
      this.proceed()
    })
  }

  #fail(error: unknown): void {
    const isPeerFault = error instanceof ProtocolError
    if (!isPeerFault)
      this.#context.tell({ kind: 'device-connection-failed', transport: this.transport, error })
    this.end(isPeerFault ? error.reason : 'internal-error')
  }

  #adjustPause(): void {
    if (this.isOpen) this.#setPaused(this.#isHeld || this.#isYielding || !this.#phase.acceptsMore)
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#isPaused) return
    this.#isPaused = paused
    if (paused) this.stream.pause()
    else this.stream.resume()
  }
}
