// Where tests keep their files: in memory, where the machine has enough of it, because what they write is thrown away
// and most of their waiting was for the disk. At full size (`npm run test:chaos`) they write to the disk.

import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'jobcast-tests-'
/** Four times what they had at most, and the machine needs memory for the tests themselves. */
const roomNeeded = 4 * 2 ** 30
const freeNeeded = roomNeeded + availableParallelism() * 2 ** 30

/** A new folder in memory; undefined where there is too little of it, or where somebody has chosen a folder. */
export function makeFolderInMemory(): string | undefined {
  if (process.env.TMPDIR !== undefined || process.env.JOBCAST_TEST_SIZE === 'chaos') return undefined
  try {
    removeLeftBehind()
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < roomNeeded || freemem() < freeNeeded) return undefined
    const folder = join(memory, `${prefix}${process.pid}`)
    // PostgreSQL runs as another user where this one is root.
    mkdirSync(folder, { mode: 0o755 })
    return folder
  } catch {
    return undefined
  }
}

/** By a run that was killed. */
function removeLeftBehind(): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(prefix) || isRunning(Number(name.slice(prefix.length)))) continue
    rmSync(join(memory, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
