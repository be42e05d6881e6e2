// Which windows are open right now, and for which zones. Times are computed once per opening, so a check only compares two
// numbers.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { deviceZone } from '@jobcast/contract'
import { defaultZone } from './device-zone.ts'
import { openEverywhere, writeOpenZones } from './open-zones.ts'
import type { WindowRule } from './ports/windows.ts'
import { type Opening, WindowTimes } from './window-times.ts'

/** The cached next opening as of `since`; undefined: there was none. */
type Known = { opening: Opening | undefined; since: number }

/** Openings computed before yielding to the event loop: some milliseconds. */
const zonesAtOnce = 50

/** One window, with its next opening cached for each zone. */
export class JudgedZones {
  readonly #rule: WindowRule
  #zones = new Map<string, Known>()

  constructor(rule: WindowRule) {
    this.#rule = rule
  }

  /** `zones`: those with devices. Returns the open zones in the format of open-zones.ts. */
  async judge(zones: readonly string[], now: number): Promise<string> {
    const { timeZone } = this.#rule
    if (timeZone !== deviceZone) return this.#judge(timeZone, now, this.#zones) ? openEverywhere : ''
    const before = this.#zones
    // Drops zones that no longer have devices.
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
