// Serves device requests that arrive over a broker: in sequence per device, many devices concurrently.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import { SpaceShort, StorageUnavailable, TooMuchWaiting } from '../../domain/common/ports/storage-errors.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import { DeviceError } from '../../domain/execution/device-error.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import type { Deliveries } from '../../state/deliveries.ts'
import { maxPacketSize } from '../mqtt/frame-rules.ts'
import {
  acceptRequest,
  refuseRequest,
  type ServeDeps,
  type ServedRequest,
  serveRequest,
} from '../mqtt/serve-request.ts'
import type { Served } from '../serve-operation.ts'
import type { BridgeDevices } from './bridge-devices.ts'
import { parseTopic, type RequestTopic } from './bridge-topics.ts'
import type { Incoming } from './broker-link.ts'
import { DeviceLines } from './device-lines.ts'

export type BridgeRequestDeps = ServeDeps & {
  limits: RateLimits
  deliveries: Pick<Deliveries, 'notified' | 'delivered'>
  /** Monotonic milliseconds. */
  elapsed: () => number
}

type RequestsOf = {
  prefix: string
  ownerNo: number
  devices: BridgeDevices
  answer(topic: string, json: string): void
  /** Records that the device was seen. */
  heard(device: DeviceKey): void
  /** So many messages are unacknowledged that the broker is about to stop sending. */
  isCrowded(): boolean
}

type Request = {
  message: Incoming
  named: RequestTopic
  isReport: boolean
  isTooLarge: boolean
  cost: number
}

/** A large message counts as several, as on our own listener. */
const bytesPerToken = 4096
const reports = new Set<string | undefined>(['update', 'output', 'attributes'])
/** Refused reports are answered, so that the device resends them; up to this many a second per device. */
const maxRefusals = 20
/** Other throttled requests of a device get one answer a second. */
const everySecondMs = 1000
const retryMs = 500
const nothing = Buffer.alloc(0)

export class BridgeRequests {
  readonly #deps: BridgeRequestDeps
  readonly #of: RequestsOf
  readonly #lines: DeviceLines<Request>
  /** Devices whose requests were throttled in this second, and how many of them. */
  readonly #refusals = new Map<string, { reports: number; questions: number }>()
  readonly #nextSecond: NodeJS.Timeout
  #isStopped = false

  constructor(deps: BridgeRequestDeps, of: RequestsOf) {
    this.#deps = deps
    this.#of = of
    this.#lines = new DeviceLines(deps.elapsed)
    this.#nextSecond = setInterval(() => this.#refusals.clear(), everySecondMs)
    this.#nextSecond.unref()
  }

  receive(message: Incoming): void {
    const { topic, payload } = message
    const named = message.isRetained ? undefined : parseTopic(this.#of.prefix, topic)
    if (named === undefined) {
      message.acknowledge()
      return
    }
    const bytes = topic.length + payload.length
    const cost = 1 + Math.floor(bytes / bytesPerToken)
    const isTooLarge = bytes > maxPacketSize
    const request = { message, named, isReport: reports.has(named.operation?.name), isTooLarge, cost }
    if (!this.#lines.hasRoom(named.deviceId, request) || !this.#isWithinRate(request)) this.#throttle(request)
    else if (isTooLarge) this.#refuse(request, tooLarge())
    else if (this.#lines.add(named.deviceId, request)) void this.#serveFrom(request)
    if (this.#of.isCrowded()) for (const cut of this.#lines.cutLongest()) this.#throttle(cut)
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#nextSecond)
    this.#lines.clear()
  }

  /** Updates of executions have a rate of their own, so a device's other requests cannot block the end of an execution. */
  #isWithinRate({ named: { deviceId, operation }, isReport, cost }: Request): boolean {
    const device = deviceText({ ownerNo: this.#of.ownerNo, deviceId })
    const kind = operation?.name === 'update' ? ' update' : isReport ? ' report' : ''
    return this.#deps.limits.take('device', `${device}${kind}`, cost) === undefined
  }

  /** Acknowledged at once: a report that waited for its rate limit would hold up those of other devices. */
  #throttle(request: Request): void {
    const { deviceId } = request.named
    const refusals = this.#refusals.get(deviceId) ?? { reports: 0, questions: 0 }
    this.#refusals.set(deviceId, refusals)
    const isAnswered = request.isReport ? refusals.reports++ < maxRefusals : refusals.questions++ < 1
    if (isAnswered)
      this.#refuse(request, new DeviceError('RequestThrottled', 'The device sends too many requests.'))
    else request.message.acknowledge()
  }

  async #serveFrom(first: Request): Promise<void> {
    const { deviceId } = first.named
    for (let request: Request | undefined = first; request; request = this.#lines.next(deviceId)) {
      await this.#serve(request)
      if (this.#isStopped) return
    }
  }

  /** Retries while the storage is unavailable: the broker would resend the message only after a reconnect. */
  async #serve(request: Request): Promise<void> {
    while (!request.message.isStale) {
      try {
        await this.#serveOnce(request)
        return
      } catch (error) {
        if (!isTemporary(error)) {
          this.#refuse(request, error)
          return
        }
        await sleep(retryMs, undefined, { ref: false })
      }
    }
  }

  async #serveOnce(request: Request): Promise<void> {
    const { message, named } = request
    const found = this.#of.devices.find(named.deviceId)
    const device = found instanceof Promise ? await found : found
    if (device === undefined) throw unknownDevice()
    this.#of.heard(device)
    const served = await serveRequest(this.#deps, device, named.operation, message.payload)
    this.#noteShown(served)
    this.#answer(request, acceptRequest(served))
  }

  /** A request shows that the device has its executions; a notice only reached the broker. */
  #noteShown({ shown, seen }: Served): void {
    const next = seen && 'next' in seen && seen.next ? [seen.next] : []
    const waiting = [...shown, ...next].filter(({ execState }) => execState === 'PENDING')
    const { deliveries } = this.#deps
    for (const { jobExecutionId, notified } of waiting) if (!notified) deliveries.notified(jobExecutionId)
    if (waiting.length > 0) deliveries.delivered(waiting.map(({ jobExecutionId }) => jobExecutionId))
  }

  #refuse(request: Request, error: unknown): void {
    const { named, message, isTooLarge } = request
    // An oversized message is not parsed, not even for its clientToken.
    const payload = isTooLarge ? nothing : message.payload
    const device = { ownerNo: this.#of.ownerNo, deviceId: named.deviceId }
    const shown = error instanceof ApiError ? new DeviceError('RequestThrottled', error.message) : error
    this.#answer(request, refuseRequest(this.#deps, device, named.operation, payload, shown))
  }

  #answer({ message }: Request, { answer, json }: ServedRequest): void {
    this.#of.answer(`${message.topic}/${answer}`, json)
    message.acknowledge()
  }
}

/** Requests refused because the disk is nearly full are not retried: that would hold up the ends of executions. */
function isTemporary(error: unknown): boolean {
  if (error instanceof SpaceShort) return false
  return error instanceof StorageUnavailable || error instanceof TooMuchWaiting
}

function unknownDevice(): DeviceError {
  return new DeviceError('ResourceNotFound', 'The device is unknown, or its credential was revoked.')
}

function tooLarge(): DeviceError {
  return new DeviceError('InvalidRequest', `The message is larger than ${maxPacketSize} bytes.`)
}
