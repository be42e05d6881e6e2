// Which windows are open right now, and for which zones. Times are worked out once for each opening, so that to judge is to
// compare two numbers.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { deviceZone } from '@jobcast/contract'
import { defaultZone } from './device-zone.ts'
import { openEverywhere, writeOpenZones } from './open-zones.ts'
import type { WindowRule } from './ports/windows.ts'
import { type Opening, WindowTimes } from './window-times.ts'

/** The opening that was next at that instant; undefined: there was none. */
type Known = { opening: Opening | undefined; since: number }

/** Openings worked out before others get their turn: some milliseconds. */
const zonesAtOnce = 50

/** One window, with what is known of its next opening in each zone. */
export class JudgedZones {
  readonly #rule: WindowRule
  #zones = new Map<string, Known>()

  constructor(rule: WindowRule) {
    this.#rule = rule
  }

  /** `zones`: in which devices are. Gives the zones as open-zones.ts writes them. */
  async judge(zones: readonly string[], now: number): Promise<string> {
    const { timeZone } = this.#rule
    if (timeZone !== deviceZone) return this.#judge(timeZone, now, this.#zones) ? openEverywhere : ''
    const before = this.#zones
    // Zones in which no device is any more are forgotten.
    this.#zones = new Map()
    const open: string[] = []
    let worked = 0
    for (const zone of new Set([...zones, defaultZone])) {
      if (this.#judge(zone, now, before)) open.push(zone)
      if (this.#zones.get(zone) !== before.get(zone) && ++worked % zonesAtOnce === 0) await nextTurn()
    }
    return writeOpenZones(open)
  }

  #judge(zone: string, now: number, before: Map<string, Known>): boolean {
    let known = before.get(zone)
    const isOver = known?.opening !== undefined && now >= known.opening.until
    // Also when the clock was set back.
    if (known === undefined || isOver || now < known.since) {
      known = { opening: new WindowTimes(this.#rule, zone).opening(now), since: now }
    }
    this.#zones.set(zone, known)
    const { opening } = known
    return opening !== undefined && opening.from <= now && now < opening.offersUntil
  }
}
