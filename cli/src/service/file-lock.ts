// A lock between processes: a file that only one of them can create. It contains its holder, so that no process removes the
// lock of another.

import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const pollIntervalMs = 20

/** A lock that is older than `lastsMs` was left behind by a killed process: it is taken over. */
export async function withLock<T>(file: string, lastsMs: number, act: () => T | Promise<T>): Promise<T> {
  const holder = randomUUID()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  while (!takeLock(file, holder)) {
    removeOld(file, holder, lastsMs)
    await sleep(pollIntervalMs)
  }
  try {
    return await act()
  } finally {
    if (holderOf(file) === holder) rmSync(file, { force: true })
  }
}

function takeLock(file: string, holder: string): boolean {
  try {
    writeFileSync(file, holder, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** If several processes find an old lock, one of them removes it. */
function removeOld(file: string, holder: string, lastsMs: number): void {
  const before = holderOf(file)
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
  if (before === undefined || Date.now() - mtimeMs <= lastsMs) return
  const moved = `${file}.${holder}.old`
  try {
    renameSync(file, moved)
    // Another process took it over in between, and gets its lock back.
    if (holderOf(moved) !== before) linkSync(moved, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
  } finally {
    rmSync(moved, { force: true })
  }
}

/** Undefined: the lock is free. */
function holderOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
