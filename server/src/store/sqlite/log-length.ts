// The write-ahead log is carried over into the file now and then. SQLite does so within a commit: 20 ms for a log of 16 MB,
// twice what ever else a trigger waits for. So a thread of its own does most of it while the writer goes on (checkpointer.ts),
// and the writer the rest: only when all of it is there does the log begin anew.

import type { DatabaseSync } from 'node:sqlite'

/** 16 MB, four times as much as SQLite would let it have: whatever is written again meanwhile is carried over once. */
export const longPages = 4000
/** If the thread does not keep up, commits do it after all. */
const mostPages = 4 * longPages

/** From this version on SQLite tells how long the log is. */
const [tellingMajor, tellingMinor] = [3, 51]

/** Waits for nobody: what others are still reading stays in the log. */
export function prepareCarryOver(db: DatabaseSync): () => void {
  const carry = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  return () => void carry.get()
}

/** For the writer, between its transactions: whether the log has become long, again. */
export function watchLog(db: DatabaseSync): () => boolean {
  if (!canTell(db)) return () => false
  db.exec(`PRAGMA wal_autocheckpoint = ${mostPages}`)
  const measure = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  measure.setReturnArrays(true)
  let lastLong = 0
  return () => {
    const [, pages = 0] = measure.get() as unknown as number[]
    // It has begun anew.
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
