// A lock file that names the process that holds it. The lock is valid while that process runs, in this boot.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readProcess } from '../process/list-processes.ts'
import { readBootId } from './boot-id.ts'

export function lockByFile(path: string, isTaken: () => Error): { release(): void } {
  const own = `${path}.${process.pid}`
  const content = JSON.stringify(holderOf(process.pid))
  writeFileSync(own, content, { mode: 0o600 })
  try {
    while (!take(own, path)) {
      const found = read(path)
      if (found !== undefined && isRunning(found)) throw isTaken()
      if (found !== undefined && !removeStale(path, found)) throw isTaken()
    }
  } finally {
    rmSync(own, { force: true })
  }
  return {
    release() {
      if (read(path) === content) rmSync(path)
    },
  }
}

type Holder = { pid: number; startedAt: string | undefined; bootId: string }

function holderOf(pid: number): Holder {
  return { pid, startedAt: readProcess(pid)?.startedAt, bootId: readBootId() }
}

/** Creating a hard link is atomic: only one of two processes succeeds. */
function take(own: string, path: string): boolean {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function isRunning(content: string): boolean {
  try {
    const { pid } = JSON.parse(content) as Holder
    const now = holderOf(pid)
    return readProcess(pid)?.isZombie === false && JSON.stringify(now) === content
  } catch {
    return false
  }
}

/** Returns false if another agent has replaced the lock meanwhile; then the lock is put back. */
function removeStale(path: string, stale: string): boolean {
  const aside = `${path}.${process.pid}.stale`
  renameSync(path, aside)
  const isStale = read(aside) === stale
  if (!isStale) take(aside, path)
  rmSync(aside)
  return isStale
}
