// The folder for the files of tests: in memory if the machine has enough, because the files are temporary and most of the
// waiting was for the disk. At full size (`npm run test:chaos`) tests write to the disk.

import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'jobcast-tests-'
/** Four times the most that was used. The machine also needs memory for the tests themselves. */
const roomNeeded = 4 * 2 ** 30
const freeNeeded = roomNeeded + availableParallelism() * 2 ** 30

/** A new folder in memory; undefined if there is too little memory, or if TMPDIR is set. */
export function makeFolderInMemory(): string | undefined {
  if (process.env.TMPDIR !== undefined || process.env.JOBCAST_TEST_SIZE === 'chaos') return undefined
  try {
    removeLeftBehind()
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < roomNeeded || freemem() < freeNeeded) return undefined
    const folder = join(memory, `${prefix}${process.pid}`)
    // PostgreSQL runs as another user if this one is root.
    mkdirSync(folder, { mode: 0o755 })
    return folder
  } catch {
    return undefined
  }
}

/** Removes the folders of test runs that were killed. */
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
