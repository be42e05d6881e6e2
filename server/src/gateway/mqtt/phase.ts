import type { SteadyInstant } from '../../domain/common/instants.ts'
import type { Transport } from '../../domain/device/ports/presence.ts'
import type { ByteStream } from './byte-stream.ts'
import type { FrameRules } from './frames.ts'
import type { Reason } from './reason.ts'

/** A phase of a connection: first sign-in, then the session. */
export type Phase = {
  readonly rules: FrameRules
  /** False: reading from the network is paused. */
  readonly acceptsMore: boolean
  /** Work is in progress. */
  readonly isBusy: boolean
  /** After this long without a packet the device is considered gone. */
  readonly silenceMs: number
  /** Throws ProtocolError. */
  process(frame: Buffer): void
  /** A ping or pong of the WebSocket itself. Throws ProtocolError when there are too many. */
  countControlFrame(): void
  /** Output was sent; there is room again. */
  drained(): void
  /** The reason if the connection must end now. Called about once a second. */
  overdue(clock: SteadyInstant): Reason | undefined
  /** Ends as soon as work in progress is done. */
  stop(): void
  /** The packet sent before the connection is closed. No work is started after it. */
  lastPacket(reason: Reason): Buffer | undefined
  /** The connection is closed; `reason` is undefined if the peer closed it. */
  closed(reason: Reason | undefined): void
}

/** The connection as a phase sees it. */
export type Line = {
  readonly stream: ByteStream
  readonly transport: Transport
  /** IP address of the peer. */
  readonly address: string
  /** Wall clock. */
  readonly lastSeenAt: number
  readonly isOpen: boolean
  enter(phase: Phase): void
  /** There is room again, or work in progress is done. */
  proceed(): void
  /** Nothing is read until `release`. */
  hold(): void
  release(): void
  end(reason: Reason): void
}
