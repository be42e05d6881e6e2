// One agent at a time works in a state folder: two would start the same execution twice. An exclusive lock that SQLite
// holds on a file of its own goes away with the process, however it ends, and is not passed on to handlers.

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
