// The resources that a process has used, from Linux's /proc.

import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory in KB. */
export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** CPU time of all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).reduce((sum, thread) => {
    const [ns] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ', 1)
    return sum + Number(ns) / 1e6
  }, 0)
}

/** Files that a process needs for its log, database and callers. */
const filesOfItsOwn = 500

/** The system's limit of sockets for one process. */
export function mostConnections(): number {
  const hardLimit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hardLimit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hardLimit) - filesOfItsOwn
}
