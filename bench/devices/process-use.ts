// What a process has used, according to Linux.

import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory in KB. */
export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Milliseconds on a CPU, of all its threads. */
export function cpuMs(pid: number): number {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).reduce((sum, thread) => {
    const [ns] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ', 1)
    return sum + Number(ns) / 1e6
  }, 0)
}

/** Of its own a process has its log, a database, callers. */
const filesOfItsOwn = 500

/** How many sockets the system lets one process have. */
export function mostConnections(): number {
  const hardLimit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hardLimit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hardLimit) - filesOfItsOwn
}
