// Processes as Linux shows them under /proc. Elsewhere there is none to be seen, and nothing is assumed.

import { readdirSync, readFileSync } from 'node:fs'

export type ProcessSeen = {
  pid: number
  group: number
  /** In clock ticks since boot: with the pid it names one process and no other. */
  startedAt: string
  /** It has ended, and only its parent has not noticed. */
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
    // The name of the program stands in brackets and may hold anything, brackets too.
    const [state, , group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, group: Number(group), startedAt: rest[16] ?? '', isZombie: state === 'Z' || state === 'X' }
  } catch {
    return undefined
  }
}

/** Whether the process was started with this in its environment, as far as we may know. */
export function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(text)
  } catch {
    return false
  }
}
