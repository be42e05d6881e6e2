// Only one process at a time may use a data folder, because the embedded store has part of the state in memory.
// An exclusive lock on a separate file, held by SQLite, is released when the process ends for any reason.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from '../data-folder.ts'
import { StartRefused } from '../migrate.ts'

export function lockData(folder: string): { release(): void } {
  const path = join(folder, 'jobcast.lock')
  createPrivateFile(path)
  const lock = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== 5) throw error
    throw new StartRefused(
      `Another Jobcast is running on the data folder ${folder}. Stop it, or give --data another folder.`,
    )
  }
  return {
    release() {
      if (lock.isOpen) lock.close()
    },
  }
}
