// Only one agent may use a state folder: two would start the same execution twice. SQLite's exclusive file lock is
// released when the process ends in any way, and is not inherited by handlers. Older versions of Node have no stable SQLite
// and no other file lock: there, a lock file names the process that holds it.

import { join } from 'node:path'
import { neededNode } from '../../bin/needed-node.js'
import { lockByFile } from './lock-by-file.ts'
import { StartRefused } from './start-refused.ts'

const busy = 5

export function lockState(folder: string): { release(): void } {
  const path = join(folder, 'lock')
  const isTaken = () => new StartRefused(`Another agent is running with the state folder ${folder}.`)
  // Node prints a warning to standard error where SQLite is experimental.
  if (neededNode('sqlite') !== undefined) return lockByFile(`${path}.pid`, isTaken)
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const lock = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== busy) throw error
    throw isTaken()
  }
  return {
    release() {
      if (lock.isOpen) lock.close()
    },
  }
}
