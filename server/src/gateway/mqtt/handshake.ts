// The first phase of a connection: one CONNECT, then the sign-in.

import { mayHoldSecret } from '../../domain/access/secret-text.ts'
import type { SignedInDevice, SignInDeps } from '../../domain/access/sign-in.ts'
import type { SteadyInstant } from '../../domain/common/instants.ts'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { addressGroup } from '../../limits/address-group.ts'
import type { CertificateSubject } from '../certificates/listener-tls.ts'
import { type ConnectTerms, refusal, termsOf } from './connect-terms.ts'
import { beforeConnect } from './frame-rules.ts'
import { type ConnectPacket, encodePacket, parseConnect } from './packets.ts'
import type { Line, Phase } from './phase.ts'
import { ProtocolError, type Reason } from './reason.ts'
import { MqttSession, type SessionDeps } from './session.ts'
import { claimedDeviceId, signInDevice } from './sign-in-device.ts'

export type HandshakeDeps = SessionDeps & SignInDeps

const connectWithinMs = 5000
const signInWithinMs = 5000
/** Pings and pongs of a WebSocket before its CONNECT. */
const maxControlFrames = 10

export class Handshake implements Phase {
  readonly rules = beforeConnect
  readonly silenceMs = Number.POSITIVE_INFINITY
  readonly #deps: HandshakeDeps
  readonly #line: Line
  readonly #subject: CertificateSubject | undefined
  #since: SteadyInstant
  #connect: ConnectPacket | undefined
  #isSigningIn = false
  #controlFrames = 0

  constructor(deps: HandshakeDeps, line: Line, subject: CertificateSubject | undefined) {
    this.#deps = deps
    this.#line = line
    this.#subject = subject
    this.#since = deps.moment().clock
  }

  get acceptsMore(): boolean {
    return !this.#isSigningIn
  }

  get isBusy(): boolean {
    return this.#isSigningIn
  }

  process(frame: Buffer): void {
    const connect = parseConnect(frame)
    this.#connect = connect
    const terms = termsOf(connect)
    this.#isSigningIn = true
    this.#since = this.#deps.moment().clock
    void this.#signIn(connect, terms)
  }

  countControlFrame(): void {
    if (++this.#controlFrames > maxControlFrames) throw new ProtocolError('rate-too-high')
  }

  drained(): void {}

  overdue(clock: SteadyInstant): Reason | undefined {
    if (this.#isSigningIn) return clock - this.#since > signInWithinMs ? 'unavailable' : undefined
    return clock - this.#since > connectWithinMs ? 'too-slow' : undefined
  }

  stop(): void {
    this.#line.end('unavailable')
  }

  lastPacket(reason: Reason): Buffer | undefined {
    const version = this.#connect?.version
    if (version === undefined && reason !== 'unsupported-version') return undefined
    const connack = refusal(version ?? 4, reason)
    return connack && encodePacket(version ?? 4, connack)
  }

  closed(reason: Reason | undefined): void {
    if (reason === undefined) return
    const deviceId = this.#connect && withoutSecret(claimedDeviceId(this.#connect))
    const { transport, address } = this.#line
    this.#deps.tell({ kind: 'device-refused', transport, address, reason, deviceId })
  }

  async #signIn(connect: ConnectPacket, terms: ConnectTerms): Promise<void> {
    try {
      const device = await signInDevice(this.#deps, connect, this.#subject)
      this.#isSigningIn = false
      if (!this.#line.isOpen) this.#line.proceed()
      else if (device === undefined) this.#line.end(this.#refusalReason())
      else this.#open(device, terms)
    } catch (error) {
      this.#isSigningIn = false
      if (!(error instanceof StorageUnavailable)) {
        this.#deps.tell({ kind: 'device-sign-in-failed', transport: this.#line.transport, error })
      }
      this.#line.end('unavailable')
      this.#line.proceed()
    }
  }

  /** An address that fails too often gets another reason code; a valid token is always accepted. */
  #refusalReason(): Reason {
    return this.#deps.limits.take('sign-in', addressGroup(this.#line.address)) ? 'too-many' : 'not-authorized'
  }

  #open(device: SignedInDevice, terms: ConnectTerms): void {
    const session = new MqttSession(this.#deps, this.#line, terms, device)
    this.#deps.sessions.open(session)
    this.#line.enter(session)
    session.welcome()
    this.#line.proceed()
  }
}

const maxIdLength = 128

/** Users sometimes configure the token as the user name, or append it. */
function withoutSecret(claimedId: string): string | undefined {
  return claimedId.length > maxIdLength || mayHoldSecret(claimedId) ? undefined : claimedId
}
