import type { SteadyInstant } from '../../domain/instants.ts'
import type { Door } from '../../domain/store.ts'
import type { ByteStream } from './byte-stream.ts'
import type { FrameRules } from './frames.ts'
import type { Reason } from './reason.ts'

/** What a connection is about: first to find out who is there, then to serve it. */
export type Phase = {
  readonly rules: FrameRules
  /** False: what comes is left to the network for now. */
  readonly takesMore: boolean
  /** Something was begun that has not come to its end. */
  readonly isBusy: boolean
  /** No packet for so long: nobody is there. */
  readonly silenceMs: number
  /** Throws ProtocolError. */
  take(frame: Buffer): void
  /** The network takes bytes again. */
  drained(): void
  /** Why it must end now, if it must. Asked about every second. */
  overdue(clock: SteadyInstant): Reason | undefined
  /** Ends as soon as what was begun is done. */
  stop(): void
  /** What is said before the connection is closed. Nothing is begun after it. */
  lastWords(reason: Reason): Buffer | undefined
  /** The connection is closed; `reason` is undefined when it was not we who closed it. */
  closed(reason: Reason | undefined): void
}

/** The connection as a phase sees it. */
export type Line = {
  readonly stream: ByteStream
  readonly door: Door
  /** On the wall clock. */
  readonly lastSeenAt: number
  readonly isOpen: boolean
  enter(phase: Phase): void
  /** There is room again, or what was begun is done. */
  goOn(): void
  end(reason: Reason): void
}
