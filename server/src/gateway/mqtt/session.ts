// A device that has signed in: what it is told, what it asks, and how it ends.

import type { IPubackPacket } from 'mqtt-packet'
import type {
  CloseReason,
  DeviceNotice,
  DeviceSession,
  DeviceSessions,
  SeenQueue,
} from '../../domain/device-link.ts'
import type { SteadyInstant } from '../../domain/instants.ts'
import type { SignedInDevice } from '../../domain/sign-in.ts'
import type { Door } from '../../domain/store.ts'
import { acceptance, type ConnectTerms } from './connect-terms.ts'
import { afterConnect } from './frame-rules.ts'
import { InOrder, type Request } from './in-order.ts'
import { noticeJson, noticeTopic } from './notice-message.ts'
import { Outbox } from './outbox.ts'
import { encodePacket, parsePacket } from './packets.ts'
import type { Line, Phase } from './phase.ts'
import { failure, isFailure, type ProtocolVersion, type Reason, reasonCodes } from './reason.ts'
import { RequestServer } from './request-server.ts'
import type { ServeDeps } from './serve-request.ts'

export type SessionDeps = ServeDeps & { sessions: DeviceSessions }

const readWithinMs = 30_000

export class MqttSession implements DeviceSession, Phase {
  readonly device: SignedInDevice
  readonly rules = afterConnect
  readonly #deps: SessionDeps
  readonly #line: Line
  readonly #terms: ConnectTerms
  readonly #outbox: Outbox
  readonly #server: RequestServer
  readonly #requests: InOrder
  #closing: CloseReason | undefined

  constructor(deps: SessionDeps, line: Line, terms: ConnectTerms, device: SignedInDevice) {
    this.device = device
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

  get door(): Door {
    return this.#line.door
  }

  get lastSeenAt(): number {
    return this.#line.lastSeenAt
  }

  get wants(): DeviceSession['wants'] {
    return this.#server.subscriptions.wants
  }

  get isReady(): boolean {
    return this.#closing === undefined && this.#outbox.takesNotices
  }

  get isBusy(): boolean {
    return this.#requests.isServing
  }

  get takesMore(): boolean {
    return this.#closing === undefined && !this.#requests.isFull && this.#outbox.hasRoom
  }

  welcome(): void {
    this.#outbox.send(acceptance(this.#terms))
    this.#deps.tell({ kind: 'device-connected', door: this.door, deviceId: this.device.deviceId })
  }

  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void {
    const qos = this.#server.subscriptions.qosOfNotice(notice)
    if (qos === undefined) return
    const json = noticeJson(notice, this.device.deviceId, this.#deps.moment())
    this.#outbox.publish(this.#server.prefix + noticeTopic(notice), json, qos, jobExecutionIds)
  }

  wantsMore(): void {
    this.#deps.sessions.greet(this)
  }

  hasSeen(seen: SeenQueue): void {
    this.#deps.sessions.answered(this, seen)
  }

  take(frame: Buffer): void {
    const packet = parsePacket(this.version, frame)
    // The first two wait for nobody: a slow store must not look like a dead connection.
    if (packet.cmd === 'pingreq') this.#outbox.send({ cmd: 'pingresp' })
    else if (packet.cmd === 'puback') this.#confirm(packet)
    else this.#requests.add(packet)
  }

  mayServe(): boolean {
    return this.#outbox.hasRoom
  }

  serve(request: Request): Promise<void> | undefined {
    return this.#server.serve(request)
  }

  rested(error: unknown): void {
    if (error !== undefined) {
      this.#deps.tell({ kind: 'device-request-failed', deviceId: this.device.deviceId, error })
      this.end('internal-error')
    }
    if (this.#closing) this.end(this.#closing)
    this.#line.goOn()
  }

  drained(): void {
    this.#requests.goOn()
    this.#deps.sessions.refresh(this)
  }

  overdue(clock: SteadyInstant): Reason | undefined {
    return this.#outbox.stuckMs(clock) > readWithinMs ? 'too-slow' : undefined
  }

  close(reason: CloseReason): void {
    this.#closing ??= reason
    this.#requests.drop()
    // At an orderly stop, whoever is being served hears the answer first.
    if (reason !== 'stopping' || !this.isBusy) this.end(reason)
  }

  stop(): void {
    this.close('stopping')
  }

  end(reason: Reason): void {
    this.#line.end(reason)
  }

  lastWords(reason: Reason): Buffer | undefined {
    this.#requests.drop()
    if (this.version === 4 || !isFailure(reason)) return undefined
    return encodePacket(this.version, { cmd: 'disconnect', reasonCode: reasonCodes[reason] })
  }

  closed(reason: Reason | undefined): void {
    this.#deps.sessions.leave(this)
    const { deviceId } = this.device
    const told = reason ?? 'connection-lost'
    this.#deps.tell({ kind: 'device-disconnected', door: this.door, deviceId, reason: told })
    // What a device sent before it went away by itself is served nevertheless.
    this.#requests.goOn()
  }

  #confirm({ messageId = 0, reasonCode = 0 }: IPubackPacket): void {
    const { sessions } = this.#deps
    const wasReady = this.isReady
    const jobExecutionIds = this.#outbox.confirm(messageId) ?? []
    // A device of MQTT 5 can also say that it did not want it.
    if (reasonCode < failure && jobExecutionIds.length > 0) sessions.delivered(jobExecutionIds)
    if (!wasReady && this.isReady) sessions.refresh(this)
  }
}
