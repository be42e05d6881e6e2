import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** Another one after every boot of the machine. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Not Linux. In minutes: the clock on the wall is put right now and then.
    return `since-${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
