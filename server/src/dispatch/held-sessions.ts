// Devices that are being notified of one run. Their notices are made first and then sent: a device that is woken for each
// packet of ours costs us more than the packet. Those of a large run are not listened to until the others are notified as
// well: to handle their acknowledgements takes half as long as to notify, and would come in between.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeviceSession } from '../domain/device/ports/device-link.ts'

/** However large the run is, no device waits for more than so many others to be heard. */
const mostHeld = 10_000
/** All at once they would hold up everybody else. */
const releasedPerTurn = 250

export class HeldSessions {
  readonly #isLarge: boolean
  #gathering: DeviceSession[] = []
  #held: DeviceSession[] = []

  constructor(isLarge: boolean) {
    this.#isLarge = isLarge
  }

  /** Before it is notified. */
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
