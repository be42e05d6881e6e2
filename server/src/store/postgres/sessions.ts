import type { SessionStore } from '../../domain/session-store.ts'
import { toSession } from '../from-rows.ts'
import type { Database } from './database.ts'

const INSERT = `
  INSERT INTO session (session_id, kind, key_id, secret_hash, expires_at) VALUES ($1, $2, $3, $4, $5)`
const FIND = 'SELECT session_id, kind, key_id, secret_hash, expires_at FROM session WHERE session_id = $1'
const DELETE = 'DELETE FROM session WHERE session_id = $1 RETURNING session_id'
const FORGET = `
  DELETE FROM session USING (
    SELECT session_id FROM session WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED) AS old
  WHERE session.session_id = old.session_id RETURNING 1`

const forgottenAtOnce = 1000

export function buildSessionSteps(db: Database): SessionStore {
  return {
    async createSession({ sessionId, kind, keyId, secretHash, expiresAt }) {
      await db.inTransaction((transaction) =>
        transaction.query(INSERT, [sessionId, kind, keyId, secretHash, expiresAt]),
      )
    },
    async findSession({ sessionId }) {
      const [row] = await db.query(FIND, [sessionId])
      return row && toSession(row)
    },
    async deleteSession({ sessionId }) {
      const rows = await db.inTransaction((transaction) => transaction.query(DELETE, [sessionId]))
      return rows.length > 0
    },
    async purgeSessions({ expiredBy }) {
      const values = [expiredBy, forgottenAtOnce]
      const rows = await db.inTransaction((transaction) => transaction.query(FORGET, values))
      return rows.length === forgottenAtOnce
    },
  }
}
