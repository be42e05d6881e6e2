import type { StoredSession } from '../../domain/access/ports/sessions.ts'
import { principalOf } from '../../domain/access/principal.ts'
import { inBoth, sliced, type Writes } from '../queries.ts'
import { select } from '../schema/column.ts'
import { apiKey, owner, session } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const SESSION = select(session.fields)
const LISTED = select({
  ...session.fields,
  keyName: apiKey.fields.keyName,
  keyExpiresAt: apiKey.fields.expiresAt,
  ownerId: owner.fields.ownerId,
})
const INSERT = `
  INSERT INTO session (session_id, kind, key_id, owner_no, secret_hash, parent_id, address, user_agent, created_at,
    last_used_at, expires_at, person, tokens, checked_at, tried_at)
  VALUES (:sessionId, :kind, :keyId, :ownerNo, :secretHash, :parentId, :address, :userAgent, :createdAt,
    :lastUsedAt, :expiresAt, :person, :tokens, :checkedAt, :triedAt)`
const FIND = `SELECT ${SESSION} FROM session WHERE session_id = :sessionId` as const
const LOCK = inBoth(({ lock }) => `${FIND} ${lock}`)
const LIST = `
  SELECT ${LISTED} FROM session JOIN api_key USING (key_id) JOIN owner ON owner.owner_no = session.owner_no
  WHERE session.owner_no = :ownerNo AND session_id > :after AND kind <> 'ticket' AND session.expires_at > :now
    AND session.last_used_at > :usedAfter AND revoked_at IS NULL
    AND (api_key.expires_at IS NULL OR api_key.expires_at > :now)
  ORDER BY session_id LIMIT :limit` as const
const DELETE = `DELETE FROM session WHERE session_id = :sessionId RETURNING ${SESSION}` as const
const DELETE_CHILDREN = inBoth(
  ({ isIn }) => `DELETE FROM session WHERE ${isIn('parent_id', 'parentIds', 'text')} RETURNING ${SESSION}`,
)
const USE = 'UPDATE session SET last_used_at = :at WHERE session_id = :sessionId AND last_used_at < :at'
const CLAIM_CHECK = `
  UPDATE session SET tried_at = :at WHERE session_id = :sessionId AND (tried_at IS NULL OR tried_at <= :triedBy)`
const CHECK = `
  UPDATE session SET person = :person, tokens = :tokens, checked_at = :checkedAt, tried_at = NULL
  WHERE session_id = :sessionId`
const PURGE = inBoth(
  ({ lockFree }) => `
  DELETE FROM session WHERE session_id IN (
    SELECT session_id FROM session WHERE expires_at <= :expiredBy LIMIT :limit ${lockFree})`,
)

const GRANTED = select(apiKey.pick('scopes', 'restriction'))
const FIND_GRANTED = `SELECT ${GRANTED} FROM api_key WHERE key_id = :keyId` as const

const purgedAtOnce = 1000

export const sessionReads: ReadSteps<'findSession' | 'listSessions'> = {
  findSession: (queries, { sessionId }) => queries.get(SESSION, FIND, { sessionId }),
  async listSessions(queries, { ownerNo, now, usedAfter, slice: { after = '', limit } }) {
    const values = { ownerNo, now, usedAfter, after, limit: limit + 1 }
    return sliced(await queries.all(LISTED, LIST, values), limit, ({ sessionId }) => sessionId)
  },
}

type SessionWrites = WriteSteps<
  | 'createSession'
  | 'redeemTicket'
  | 'deleteSession'
  | 'claimCheck'
  | 'recordCheck'
  | 'recordSessionUse'
  | 'purgeSessions'
>

export const sessionWrites: SessionWrites = {
  createSession,
  async redeemTicket(queries, { ticketId, session }) {
    const found = await queries.get(SESSION, FIND, { sessionId: ticketId })
    if (found === undefined) return undefined
    const { parentId } = found
    // The parent is locked: a step that ends it concurrently either sees the new session or is seen here. It is locked before
    // the ticket, in the same order as in that step, to prevent deadlocks.
    const parent = parentId === null ? null : await queries.get(SESSION, LOCK, { sessionId: parentId })
    const ticket = await queries.get(SESSION, DELETE, { sessionId: ticketId })
    if (ticket === undefined) return undefined
    if (parent === null || parentId === null) {
      await createSession(queries, session)
      return session
    }
    if (parent === undefined || parent.expiresAt <= session.createdAt) return undefined
    const child = { ...session, parentId, expiresAt: Math.min(session.expiresAt, parent.expiresAt) }
    await createSession(queries, child)
    return child
  },
  async deleteSession(queries, { sessionId, principal, at }) {
    let deleted = await queries.all(SESSION, DELETE, { sessionId })
    if (deleted.length === 0) return false
    while (deleted.length > 0) {
      for (const { kind, sessionId, keyId, ownerNo } of deleted) {
        if (kind === 'ticket') continue
        queries.resourceChanged('session.signed_out', { ownerNo, at, data: { sessionId, keyId, principal } })
      }
      const parentIds = deleted.map((each) => each.sessionId)
      deleted = await queries.all(SESSION, DELETE_CHILDREN, { parentIds })
    }
    return true
  },
  claimCheck: async (queries, claim) => (await queries.run(CLAIM_CHECK, partOf(CLAIM_CHECK, claim))) === 1,
  async recordCheck(queries, { person, ...check }) {
    await queries.run(CHECK, partOf(CHECK, { ...check, person: JSON.stringify(person) }))
  },
  async recordSessionUse(queries, uses) {
    // Always in the same order, to prevent deadlocks between nodes.
    for (const use of uses.toSorted((one, other) => (one.sessionId < other.sessionId ? -1 : 1)))
      await queries.run(USE, partOf(USE, use))
  },
  async purgeSessions(queries, { expiredBy }) {
    return (await queries.run(PURGE, { expiredBy, limit: purgedAtOnce })) === purgedAtOnce
  },
}

async function createSession(queries: Writes, session: StoredSession): Promise<void> {
  const person = session.person && JSON.stringify(session.person)
  await queries.run(INSERT, partOf(INSERT, { ...session, person }))
  const { kind, sessionId, keyId, ownerNo, createdAt: at } = session
  if (kind === 'ticket') {
    queries.audited({ ownerNo, at, action: 'ticket.created', subject: `ticket:${sessionId}` })
    return
  }
  const data = { sessionId, keyId, principal: principalOf({ keyId }) }
  const { userAgent, expiresAt } = session
  // The scopes from groups or a token are not in any other entry.
  const { scopes, restriction } = (await queries.get(GRANTED, FIND_GRANTED, { keyId })) ?? {}
  const after = { userAgent, expiresAt, scopes, ...restriction }
  queries.resourceChanged('session.signed_in', { ownerNo, at, data, after })
}
