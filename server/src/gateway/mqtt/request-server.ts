// Serves the requests of a signed-in device: publishes, subscriptions, disconnect.

import { type DeviceOperation, parseOperation, shadowPrefix, topicPrefix } from '@jobcast/contract'
import type { ISubscribePacket, IUnsubscribePacket } from 'mqtt-packet'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { SeenQueue } from '../../domain/device/ports/device-link.ts'
import type { PublishPacket } from './decode-publish.ts'
import type { Request } from './in-order.ts'
import type { Outbox } from './outbox.ts'
import { failure, isFailure, type ProtocolVersion, type Reason, reasonCodes } from './reason.ts'
import {
  acceptRequest,
  refuseRequest,
  type ServeDeps,
  type ServedRequest,
  serveRequest,
} from './serve-request.ts'
import { Subscriptions } from './subscriptions.ts'

/** The session as the request server sees it. */
type Served = {
  readonly device: DeviceKey
  readonly version: ProtocolVersion
  end(reason: Reason): void
  /** The device has subscribed to further notices. */
  wantsMore(): void
  /** The device has requested its queue and received the answer. */
  hasSeen(seen: SeenQueue): void
}

export class RequestServer {
  readonly prefix: string
  readonly subscriptions: Subscriptions
  /** Most devices have none. */
  #shadow: Subscriptions | undefined
  readonly #deps: ServeDeps
  readonly #session: Served
  readonly #outbox: Outbox

  constructor(deps: ServeDeps, session: Served, outbox: Outbox) {
    this.prefix = topicPrefix(session.device.deviceId)
    this.subscriptions = new Subscriptions(this.prefix)
    this.#deps = deps
    this.#session = session
    this.#outbox = outbox
  }

  /** Undefined: served synchronously. */
  serve(request: Request): Promise<void> | undefined {
    switch (request.cmd) {
      case 'publish':
        return this.#servePublish(request)
      case 'subscribe':
        this.#subscribe(request)
        return undefined
      case 'unsubscribe':
        this.#unsubscribe(request)
        return undefined
      case 'disconnect':
        this.#session.end('disconnected')
        return undefined
    }
  }

  /** Acknowledged after the commit: a device may discard only what is on disk. */
  async #servePublish({ topic, payload, qos, messageId = 0 }: PublishPacket): Promise<void> {
    const isShadow = !topic.startsWith(this.prefix)
    const prefix = isShadow ? this.#shadowPrefix : this.prefix
    if (isShadow && !topic.startsWith(prefix)) {
      this.#refuseForeign(qos, messageId)
      return
    }
    const suffix = topic.slice(prefix.length)
    const operation = isShadow ? shadowOperation(suffix) : parseOperation(suffix)
    const { device } = this.#session
    let served: ServedRequest
    try {
      served = acceptRequest(await serveRequest(this.#deps, device, operation, payload))
    } catch (error) {
      served = refuseRequest(this.#deps, device, operation, payload, error)
    }
    const { answer, json, seen, acknowledgement } = served
    const subscriptions = isShadow ? this.#shadow : this.subscriptions
    const answerQos = subscriptions?.qosOfAnswer(suffix, answer)
    if (answerQos === undefined) {
      if (qos === 1) this.#acknowledge(messageId, acknowledgement)
      return
    }
    const traceParent = seen && 'next' in seen ? seen.next?.traceParent : undefined
    this.#outbox.together(() => {
      if (qos === 1) this.#acknowledge(messageId, acknowledgement)
      this.#outbox.publish(`${topic}/${answer}`, json, answerQos, [], traceParent)
    })
    if (seen) this.#session.hasSeen(seen)
  }

  /** MQTT 3.1.1 can only acknowledge success; without it the device sends again after it reconnects. */
  #acknowledge(messageId: number, reason: Reason): void {
    if (this.#session.version === 4 && isFailure(reason)) return
    if (reason === 'success') this.#outbox.puback(messageId)
    else this.#outbox.send({ cmd: 'puback', messageId, reasonCode: reasonCodes[reason] })
  }

  #refuseForeign(qos: number, messageId: number): void {
    if (this.#session.version === 4) this.#session.end('not-authorized')
    else if (qos === 1) this.#acknowledge(messageId, 'not-authorized')
  }

  #subscribe({ subscriptions, messageId = 0 }: ISubscribePacket): void {
    const before = this.subscriptions.wants
    const granted = this.#grant(subscriptions).map((outcome) => {
      if (typeof outcome === 'number') return outcome
      return this.#session.version === 4 ? failure : reasonCodes[outcome]
    })
    this.#outbox.send({ cmd: 'suback', messageId, granted })
    const { list, next, cancel } = this.subscriptions.wants
    const wantsMore = (list && !before.list) || (next && !before.next) || (cancel && !before.cancel)
    if (wantsMore) this.#session.wantsMore()
  }

  /** Not stored: few devices use it. */
  get #shadowPrefix(): string {
    return shadowPrefix(this.#session.device.deviceId)
  }

  #grant(wanted: ISubscribePacket['subscriptions']): ReturnType<Subscriptions['add']> {
    const prefix = this.#shadowPrefix
    if (!wanted.some(({ topic }) => topic.startsWith(prefix))) return this.subscriptions.add(wanted)
    this.#shadow ??= new Subscriptions(prefix)
    return wanted.flatMap((each) => this.#treeOf(each.topic).add([each]))
  }

  #treeOf(filter: string): Subscriptions {
    return (filter.startsWith(this.#shadowPrefix) && this.#shadow) || this.subscriptions
  }

  #unsubscribe({ unsubscriptions, messageId = 0 }: IUnsubscribePacket): void {
    const existed = unsubscriptions.flatMap((filter) => this.#treeOf(filter).remove([filter]))
    const granted = existed.map((was) => reasonCodes[was ? 'success' : 'no-subscription-existed'])
    this.#outbox.send({ cmd: 'unsuback', messageId, granted })
  }
}

function shadowOperation(suffix: string): DeviceOperation | undefined {
  return suffix === 'update' ? { name: 'attributes' } : undefined
}
