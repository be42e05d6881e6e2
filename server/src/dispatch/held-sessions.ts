// Sessions of the devices that are being notified of one run. Notices are gathered per session and sent together: waking a
// device for each packet costs more than the packet. For a large run, incoming packets are held until the other devices are
// notified as well: handling acknowledgements takes half as long as notifying, and would delay it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeviceSession } from '../domain/device/ports/device-link.ts'

/** However large the run is, incoming packets are held for at most this many devices. */
const mostHeld = 10_000
/** Releasing all at once would block the event loop. */
const releasedPerTurn = 250

export class HeldSessions {
  readonly #isLarge: boolean
  #gathering: DeviceSession[] = []
  #held: DeviceSession[] = []

  constructor(isLarge: boolean) {
    this.#isLarge = isLarge
  }

  /** Call before the session is notified. */
  add(session: DeviceSession): void {
    session.gather()
    this.#gathering.push(session)
    if (!this.#isLarge) return
    session.hold()
    this.#held.push(session)
  }

  /** Called after each batch, in the same turn of the event loop. */
  flush(): void {
    const gathering = this.#gathering
    this.#gathering = []
    for (const session of gathering) session.flush()
  }

  /** Called between two batches. */
  async releaseIfMany(): Promise<void> {
    if (this.#held.length >= mostHeld) await this.release()
  }

  async release(): Promise<void> {
    const held = this.#held
    this.#held = []
    for (let start = 0; start < held.length; start += releasedPerTurn) {
      for (const session of held.slice(start, start + releasedPerTurn)) session.release()
      await nextTurn()
    }
  }
}
