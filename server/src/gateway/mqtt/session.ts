// The session of a signed-in device: its notices, its requests, and its end.

import type { IPubackPacket } from 'mqtt-packet'
import type { SignedInDevice } from '../../domain/access/sign-in.ts'
import type { SteadyInstant } from '../../domain/common/instants.ts'
import {
  type CloseReason,
  type DeviceNotice,
  type DeviceSession,
  type DeviceSessions,
  deviceText,
  type SeenQueue,
} from '../../domain/device/ports/device-link.ts'
import type { Transport } from '../../domain/device/ports/presence.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { acceptance, type ConnectTerms } from './connect-terms.ts'
import { afterConnect } from './frame-rules.ts'
import { InOrder, type Request } from './in-order.ts'
import { noticeJson, noticeTopic } from './notice-message.ts'
import { Outbox } from './outbox.ts'
import { encodePacket, parsePacket } from './packets.ts'
import type { Line, Phase } from './phase.ts'
import {
  failure,
  isFailure,
  ProtocolError,
  type ProtocolVersion,
  type Reason,
  reasonCodes,
} from './reason.ts'
import { RequestServer } from './request-server.ts'
import type { ServeDeps } from './serve-request.ts'

export type SessionDeps = ServeDeps & { sessions: DeviceSessions; limits: RateLimits }

const readWithinMs = 30_000
/** A large packet counts as several. */
const bytesPerToken = 4096

export class MqttSession implements DeviceSession, Phase {
  readonly device: SignedInDevice
  readonly rules = afterConnect
  readonly #deps: SessionDeps
  readonly #line: Line
  readonly #terms: ConnectTerms
  readonly #outbox: Outbox
  readonly #server: RequestServer
  readonly #requests: InOrder
  readonly #deviceText: string
  #closing: CloseReason | undefined

  constructor(deps: SessionDeps, line: Line, terms: ConnectTerms, device: SignedInDevice) {
    this.device = device
    this.#deviceText = deviceText(device)
    this.#deps = deps
    this.#line = line
    this.#terms = terms
    this.#outbox = new Outbox(line.stream, terms)
    this.#server = new RequestServer(deps, this, this.#outbox)
    this.#requests = new InOrder(this)
  }

  get version(): ProtocolVersion {
    return this.#terms.version
  }

  get silenceMs(): number {
    return this.#terms.silenceMs
  }

  get transport(): Transport {
    return this.#line.transport
  }

  get lastSeenAt(): number {
    return this.#line.lastSeenAt
  }

  get wants(): DeviceSession['wants'] {
    return this.#server.subscriptions.wants
  }

  get isReady(): boolean {
    return this.#closing === undefined && this.#outbox.acceptsNotices
  }

  get isBusy(): boolean {
    return this.#requests.isServing
  }

  get acceptsMore(): boolean {
    return this.#closing === undefined && !this.#requests.isFull && this.#outbox.hasRoom
  }

  welcome(): void {
    this.#outbox.send(acceptance(this.#terms))
    this.#deps.tell({ kind: 'device-connected', transport: this.transport, deviceId: this.device.deviceId })
  }

  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void {
    const qos = this.#server.subscriptions.qosOfNotice(notice)
    if (qos === undefined) return
    const json = noticeJson(notice, this.device.deviceId, this.#deps.moment())
    const traceParent = notice.kind === 'next' ? notice.next?.execution.traceParent : undefined
    const topic = this.#server.prefix + noticeTopic(notice)
    this.#outbox.publish(topic, json, qos, jobExecutionIds, traceParent)
  }

  gather(): void {
    this.#outbox.gather()
  }

  flush(): void {
    this.#outbox.flush()
  }

  hold(): void {
    this.#line.hold()
  }

  release(): void {
    this.#line.release()
  }

  wantsMore(): void {
    this.#deps.sessions.greet(this)
  }

  hasSeen(seen: SeenQueue): void {
    this.#deps.sessions.answered(this, seen)
  }

  process(frame: Buffer): void {
    this.#charge(frame.length)
    const packet = parsePacket(this.version, frame)
    // The first two bypass the queue: a slow store must not look like a dead connection.
    if (packet.cmd === 'pingreq') this.#outbox.pong()
    else if (packet.cmd === 'puback') this.#acknowledged(packet)
    else this.#requests.add(packet)
  }

  countControlFrame(): void {
    this.#charge(0)
  }

  mayServe(): boolean {
    return this.#outbox.hasRoom
  }

  serve(request: Request): Promise<void> | undefined {
    return this.#server.serve(request)
  }

  onIdle(error: unknown): void {
    if (error !== undefined) {
      this.#deps.tell({ kind: 'device-request-failed', deviceId: this.device.deviceId, error })
      this.end('internal-error')
    }
    if (this.#closing) this.end(this.#closing)
    this.#line.proceed()
  }

  drained(): void {
    this.#requests.proceed()
    this.#deps.sessions.refresh(this)
  }

  overdue(clock: SteadyInstant): Reason | undefined {
    return this.#outbox.stuckMs(clock) > readWithinMs ? 'too-slow' : undefined
  }

  close(reason: CloseReason): void {
    this.#closing ??= reason
    this.#requests.drop()
    // On an orderly stop, the request in progress is answered first.
    if (reason !== 'stopping' || !this.isBusy) this.end(reason)
  }

  stop(): void {
    this.close('stopping')
  }

  end(reason: Reason): void {
    this.#line.end(reason)
  }

  lastPacket(reason: Reason): Buffer | undefined {
    this.#requests.drop()
    this.#outbox.flush()
    if (this.version === 4 || !isFailure(reason)) return undefined
    return encodePacket(this.version, { cmd: 'disconnect', reasonCode: reasonCodes[reason] })
  }

  closed(reason: Reason | undefined): void {
    this.#deps.sessions.leave(this)
    const { deviceId } = this.device
    const logged = reason ?? 'connection-lost'
    this.#deps.tell({ kind: 'device-disconnected', transport: this.transport, deviceId, reason: logged })
    // Requests sent before the device disconnected are still served.
    this.#requests.proceed()
  }

  /** Throws ProtocolError: the device sends more than it may. */
  #charge(bytes: number): void {
    const cost = 1 + Math.floor(bytes / bytesPerToken)
    if (this.#deps.limits.take('device', this.#deviceText, cost)) throw new ProtocolError('rate-too-high')
  }

  #acknowledged({ messageId = 0, reasonCode = 0 }: IPubackPacket): void {
    const { sessions } = this.#deps
    const wasReady = this.isReady
    const jobExecutionIds = this.#outbox.acknowledge(messageId) ?? []
    // An MQTT 5 device may also refuse the publish.
    if (reasonCode < failure && jobExecutionIds.length > 0) sessions.delivered(jobExecutionIds)
    if (!wasReady && this.isReady) sessions.refresh(this)
  }
}
