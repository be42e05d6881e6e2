import { inBoth } from '../queries.ts'
import { select } from '../schema/column.ts'
import { session } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const SESSION = select(session.fields)
const INSERT = `
  INSERT INTO session (session_id, kind, key_id, secret_hash, expires_at)
  VALUES (:sessionId, :kind, :keyId, :secretHash, :expiresAt)`
const FIND = `SELECT ${SESSION} FROM session WHERE session_id = :sessionId`
const DELETE = 'DELETE FROM session WHERE session_id = :sessionId'
const PURGE = inBoth(
  ({ lockFree }) => `
  DELETE FROM session WHERE session_id IN (
    SELECT session_id FROM session WHERE expires_at <= :expiredBy LIMIT :limit ${lockFree})`,
)

const purgedAtOnce = 1000

export const sessionReads: ReadSteps<'findSession'> = {
  findSession: (queries, { sessionId }) => queries.get(SESSION, FIND, { sessionId }),
}

export const sessionWrites: WriteSteps<'createSession' | 'deleteSession' | 'purgeSessions'> = {
  async createSession(queries, session) {
    await queries.run(INSERT, session)
  },
  deleteSession: async (queries, { sessionId }) => (await queries.run(DELETE, { sessionId })) > 0,
  async purgeSessions(queries, { expiredBy }) {
    return (await queries.run(PURGE, { expiredBy, limit: purgedAtOnce })) === purgedAtOnce
  },
}
