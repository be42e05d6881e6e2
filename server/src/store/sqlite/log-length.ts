// The write-ahead log is checkpointed into the database file from time to time. SQLite does this within a commit: 20 ms for a log of
// 16 MB, twice the longest wait of a trigger otherwise. So a separate thread makes most of the checkpoint while the writer continues
// (checkpointer.ts), and the writer makes the rest: the log only restarts when everything is checkpointed.

import type { DatabaseSync } from 'node:sqlite'

/** 16 MB, four times SQLite's default: pages that are written repeatedly are checkpointed once. */
export const longPages = 4000
/** If the thread does not keep up, checkpoints are made within commits. */
const mostPages = 4 * longPages

/** From this version on, SQLite reports the length of the log. */
const [tellingMajor, tellingMinor] = [3, 51]

/** Does not wait for readers: pages that are being read remain in the log. */
export function prepareCheckpoint(db: DatabaseSync): () => void {
  const carry = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  return () => void carry.get()
}

/** For the writer, between its transactions: returns whether the log has become long again. */
export function watchLog(db: DatabaseSync): () => boolean {
  if (!canTell(db)) return () => false
  db.exec(`PRAGMA wal_autocheckpoint = ${mostPages}`)
  const measure = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  measure.setReturnArrays(true)
  let lastLong = 0
  return () => {
    const [, pages = 0] = measure.get() as unknown as number[]
    // The log has restarted.
    if (pages < lastLong) lastLong = 0
    if (pages < lastLong + longPages) return false
    lastLong = pages
    return true
  }
}

function canTell(db: DatabaseSync): boolean {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() ?? {}
  const [major = 0, minor = 0] = String(version).split('.').map(Number)
  return major > tellingMajor || (major === tellingMajor && minor >= tellingMinor)
}
