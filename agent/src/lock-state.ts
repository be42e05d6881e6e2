// Only one agent may use a state folder: two would start the same execution twice. SQLite's exclusive file lock is
// released when the process ends in any way, and is not inherited by handlers.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartRefused } from './start-refused.ts'

const busy = 5

export function lockState(folder: string): { release(): void } {
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== busy) throw error
    throw new StartRefused(`Another agent is running with the state folder ${folder}.`)
  }
  return {
    release() {
      if (lock.isOpen) lock.close()
    },
  }
}
