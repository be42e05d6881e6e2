import type { DatabaseSync } from 'node:sqlite'
import type { StoredSession } from '../../domain/session-store.ts'
import { toSession } from '../from-rows.ts'

const INSERT =
  'INSERT INTO session (session_id, kind, key_id, secret_hash, expires_at) VALUES (?, ?, ?, ?, ?)'
const FIND = 'SELECT session_id, kind, key_id, secret_hash, expires_at FROM session WHERE session_id = ?'
const DELETE = 'DELETE FROM session WHERE session_id = ?'
const EXPIRED = 'SELECT session_id FROM session WHERE expires_at <= ? LIMIT ?'

const forgottenAtOnce = 1000

export function prepareSessions(db: DatabaseSync) {
  const insert = db.prepare(INSERT)
  const find = db.prepare(FIND)
  const remove = db.prepare(DELETE)
  const expired = db.prepare(EXPIRED)
  return {
    createSession({ sessionId, kind, keyId, secretHash, expiresAt }: StoredSession): void {
      insert.run(sessionId, kind, keyId, secretHash, expiresAt)
    },
    findSession(sessionId: string): StoredSession | undefined {
      const row = find.get(sessionId)
      return row && toSession(row)
    },
    deleteSession(sessionId: string): boolean {
      return remove.run(sessionId).changes > 0
    },
    purgeSessions(expiredBy: number): boolean {
      const rows = expired.all(expiredBy, forgottenAtOnce)
      for (const row of rows) remove.run(row.session_id as string)
      return rows.length === forgottenAtOnce
    },
  }
}
