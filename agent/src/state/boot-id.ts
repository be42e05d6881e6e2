import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** Changes at every boot of the machine. In a container, JOBCAST_BOOT_ID can define what counts as a boot. */
export function readBootId(): string {
  if (process.env.JOBCAST_BOOT_ID) return process.env.JOBCAST_BOOT_ID
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Not Linux. Rounded to minutes, because the wall clock may be adjusted.
    return `since-${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
