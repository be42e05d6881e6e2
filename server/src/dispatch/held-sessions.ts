// Devices that have just been notified of a large run, and are not listened to until the others are notified as well: to
// handle their acknowledgements takes half as long as to notify, and would come in between.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeviceSession } from '../domain/ports/device-link.ts'

/** However large the run is, no device waits for more than so many others to be heard. */
const mostHeld = 10_000
/** All at once they would hold up everybody else. */
const releasedPerTurn = 250

export class HeldSessions {
  #held: DeviceSession[] = []

  add(session: DeviceSession): void {
    session.hold()
    this.#held.push(session)
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
