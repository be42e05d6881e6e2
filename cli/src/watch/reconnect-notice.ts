import type { Out } from '../output/out.ts'
import { plainText } from '../output/text-width.ts'

/** Reports that an event stream reconnects: once per outage, not once per attempt. */
export class ReconnectNotice {
  readonly #out: Out
  #lastReason = ''

  constructor(out: Out) {
    this.#out = out
  }

  readonly onReconnect = (cause: unknown): void => {
    const reason = cause instanceof Error ? plainText(cause.message) : 'the service closed the stream'
    if (reason !== this.#lastReason) this.#out.say(`Reconnecting: ${reason}`)
    this.#lastReason = reason
  }

  /** An event has arrived, so the next interruption is another one. */
  reset(): void {
    this.#lastReason = ''
  }
}
