// Sessions of browsers, under the rules of store.ts.

import type { OwnerList, Sliced } from '../../common/ports/slices.ts'

/** `session`: a signed-in browser. `ticket`: valid for one sign-in. `exchange`: of a token, sent in place of a key. */
export type SessionKind = 'session' | 'ticket' | 'exchange'

export type StoredSession = {
  sessionId: string
  kind: SessionKind
  /** The key it acts for. */
  keyId: string
  ownerNo: number
  secretHash: Uint8Array
  /** The session that asked for it, with which it ends. */
  parentId: string | null
  /** Of the client that signed in. */
  address: string | null
  userAgent: string | null
  createdAt: number
  /** Accurate to a minute. */
  lastUsedAt: number
  expiresAt: number
  /** Of a session of a person; null for one of a key. */
  person: SessionPerson | null
  /** Tokens of the issuer, encrypted with the secret of the session. */
  tokens: string | null
  /** When the groups of the person were read. */
  checkedAt: number | null
  /** When they were last to be read again. */
  triedAt: number | null
}

export type SessionPerson = {
  email: string | null
  /** Names of the owners at which the person has a role. */
  owners: string[]
}

export type ListedSession = StoredSession & { keyName: string; keyExpiresAt: number | null; ownerId: string }

/** Those that have neither expired nor been unused for too long, of keys that are valid. */
type OpenAt = { now: number; usedAfter: number }

export type SessionStore = {
  createSession(session: StoredSession): Promise<void>
  /**
   * Deletes the ticket and creates the session, which then has the parent of the ticket and expires no later than that.
   * Undefined when there is no such ticket or the parent has ended. One of several concurrent callers gets a session.
   */
  redeemTicket(redemption: { ticketId: string; session: StoredSession }): Promise<StoredSession | undefined>
  /** Includes expired ones until they are purged. Never stale: a session deleted before this call is not found. */
  findSession(session: { sessionId: string }): Promise<StoredSession | undefined>
  listSessions(list: OwnerList<string> & OpenAt): Promise<Sliced<ListedSession, string>>
  /** With all that it is a parent of. True for exactly one of several concurrent callers. */
  deleteSession(session: { sessionId: string; principal: string; at: number }): Promise<boolean>
  /** True for one of several concurrent callers: it is to read the groups of the person again. */
  claimCheck(claim: { sessionId: string; at: number; triedBy: number }): Promise<boolean>
  recordCheck(check: {
    sessionId: string
    person: SessionPerson
    tokens: string | null
    checkedAt: number
  }): Promise<void>
  recordSessionUse(uses: { sessionId: string; at: number }[]): Promise<void>
  /** Purges a batch of those that had expired by then; true while there may be more. */
  purgeSessions(age: { expiredBy: number }): Promise<boolean>
}
