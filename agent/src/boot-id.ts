import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** Differs after every boot of the machine. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Not Linux. Rounded to minutes, because the wall clock may be adjusted.
    return `since-${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
