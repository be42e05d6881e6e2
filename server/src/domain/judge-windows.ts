// Which windows are open right now, and for which zones. Times are worked out once for each opening, so that to judge is to
// compare two numbers.

import { deviceZone } from '@jobcast/contract'
import { defaultZone } from './device-zone.ts'
import { openEverywhere, writeOpenZones } from './open-zones.ts'
import type { WindowRule } from './ports/windows.ts'
import { type Opening, WindowTimes } from './window-times.ts'

/** `zones`: in which devices are. */
export function judgeZones(rule: WindowRule, zones: readonly string[], now: number): string {
  return new JudgedZones(rule).judge(zones, now)
}

type ZoneTimes = { times: WindowTimes; opening: Opening | undefined; since: number }

/** One window, with what is known of its next opening in each zone. */
export class JudgedZones {
  readonly #rule: WindowRule
  readonly #zones = new Map<string, ZoneTimes>()

  constructor(rule: WindowRule) {
    this.#rule = rule
  }

  get isOfDevices(): boolean {
    return this.#rule.timeZone === deviceZone
  }

  judge(zones: readonly string[], now: number): string {
    if (!this.isOfDevices) return this.#isOpen(this.#rule.timeZone, now) ? openEverywhere : ''
    const all = new Set([...zones, defaultZone])
    for (const zone of this.#zones.keys()) if (!all.has(zone)) this.#zones.delete(zone)
    return writeOpenZones([...all].filter((zone) => this.#isOpen(zone, now)))
  }

  #isOpen(zone: string, now: number): boolean {
    let found = this.#zones.get(zone)
    if (found === undefined) {
      found = {
        times: new WindowTimes(this.#rule, zone),
        opening: undefined,
        since: Number.POSITIVE_INFINITY,
      }
      this.#zones.set(zone, found)
    }
    // Also when the clock was set back.
    if (now < found.since || (found.opening !== undefined && now >= found.opening.until)) {
      found.opening = found.times.opening(now)
      found.since = now
    }
    const { opening } = found
    return opening !== undefined && opening.from <= now && now < opening.offersUntil
  }
}
