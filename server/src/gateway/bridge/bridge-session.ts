import type { SignedInDevice } from '../../domain/access/sign-in.ts'
import type { DeviceNotice, DeviceSession } from '../../domain/device/ports/device-link.ts'
import type { Moment } from '../../domain/execution/execution.ts'
import { noticeJson, noticeTopic } from '../mqtt/notice-message.ts'

/** Where notices of all devices go: to the broker, which knows the subscribers and keeps notices for devices that sleep. */
export type NoticeSink = {
  moment: () => Moment
  /** False while too many messages are pending; the session is refreshed when there is room again. */
  isReadyFor(session: DeviceSession): boolean
  publish(deviceId: string, suffix: string, json: string, onSettled: OnSettled): void
  /** The broker has the notice of this execution, and it has a subscriber. */
  handed(jobExecutionId: number): void
  /** The broker rejected a notice, so it must be published again. */
  refused(deviceId: string): void
}

type OnSettled = (error: unknown, hasReader: boolean) => void

const all = { list: true, next: true, cancel: true }

/** The session of a device on the broker: it is sent every change, whether or not the device is connected there. */
export class BridgeSession implements DeviceSession {
  readonly device: SignedInDevice
  readonly transport = 'bridge'
  readonly wants = all
  readonly lastSeenAt = 0
  readonly #sink: NoticeSink
  #isClosed = false

  constructor(sink: NoticeSink, ownerNo: number, deviceId: string) {
    this.#sink = sink
    this.device = { ownerNo, deviceId, tokenId: null }
  }

  get isReady(): boolean {
    return this.#sink.isReadyFor(this)
  }

  send(notice: DeviceNotice): void {
    if (this.#isClosed) return
    const { deviceId } = this.device
    const json = noticeJson(notice, deviceId, this.#sink.moment())
    const fresh = freshIn(notice)
    this.#sink.publish(deviceId, noticeTopic(notice), json, (error, hasReader) => {
      if (error !== undefined) {
        if (!this.#isClosed) this.#sink.refused(deviceId)
      } else if (hasReader) for (const jobExecutionId of fresh) this.#sink.handed(jobExecutionId)
    })
  }

  close(): void {
    this.#isClosed = true
  }

  // The connection is the broker's, so there is nothing to do.
  gather(): void {}
  flush(): void {}
  hold(): void {}
  release(): void {}
}

/** Executions that the device was not yet notified of. */
function freshIn(notice: DeviceNotice): number[] {
  if (notice.kind === 'cancel') return []
  const named = notice.kind === 'list' ? notice.queue.executions : notice.next ? [notice.next.execution] : []
  return named.filter(({ notified }) => !notified).map(({ jobExecutionId }) => jobExecutionId)
}
