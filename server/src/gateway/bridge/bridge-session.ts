import type { SignedInDevice } from '../../domain/access/sign-in.ts'
import type { DeviceNotice, DeviceSession } from '../../domain/device/ports/device-link.ts'
import type { Moment } from '../../domain/execution/execution.ts'
import { noticeJson, noticeTopic } from '../mqtt/notice-message.ts'

/** Where notices of all devices go: to the broker, which knows who has subscribed and keeps them for those that sleep. */
export type NoticeSink = {
  moment: () => Moment
  /** False while too much waits; the session is remembered and refreshed when there is room again. */
  isReadyFor(session: DeviceSession): boolean
  publish(deviceId: string, suffix: string, json: string, onSettled: OnSettled): void
  /** The broker has it, and somebody reads it. */
  handed(jobExecutionId: number): void
  /** The broker did not take it: it is to be published again. */
  refused(deviceId: string): void
}

type OnSettled = (error: unknown, hasReader: boolean) => void

const all = { list: true, next: true, cancel: true }

/** Of a device that we do not see: it is notified of each change, whether or not it is there. */
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

  // Nothing of a connection: the broker has it.
  gather(): void {}
  flush(): void {}
  hold(): void {}
  release(): void {}
}

/** Executions that the device was not notified of before. */
function freshIn(notice: DeviceNotice): number[] {
  if (notice.kind === 'cancel') return []
  const named = notice.kind === 'list' ? notice.queue.executions : notice.next ? [notice.next.execution] : []
  return named.filter(({ notified }) => !notified).map(({ jobExecutionId }) => jobExecutionId)
}
