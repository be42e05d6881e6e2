// Lists processes from Linux's /proc. On other systems the list is empty.

import { readdirSync, readFileSync } from 'node:fs'

export type ProcessSeen = {
  pid: number
  group: number
  /** In clock ticks since boot: unique together with the pid. */
  startedAt: string
  /** It has ended, but its parent has not reaped it. */
  isZombie: boolean
}

export function listProcesses(): ProcessSeen[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readProcess(Number(name)))
      .filter((found) => found !== undefined)
  } catch {
    return []
  }
}

export function readProcess(pid: number): ProcessSeen | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program name is in parentheses and may contain anything, including parentheses.
    const [state, , group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, group: Number(group), startedAt: rest[16] ?? '', isZombie: state === 'Z' || state === 'X' }
  } catch {
    return undefined
  }
}

/** Whether the process was started with this in its environment; false if we may not read it. */
export function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(text)
  } catch {
    return false
  }
}
