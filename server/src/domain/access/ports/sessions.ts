// Sessions of browsers, under the rules of store.ts.

import type { OwnerList, Sliced } from '../../common/ports/slices.ts'

/** `session`: a signed-in browser. `ticket`: valid for one sign-in. `exchange`: from a token, sent in place of a key. */
export type SessionKind = 'session' | 'ticket' | 'exchange'

export type StoredSession = {
  sessionId: string
  kind: SessionKind
  /** The key it acts for. */
  keyId: string
  ownerNo: number
  secretHash: Uint8Array
  /** The session that it was created from, and ends with. */
  parentId: string | null
  /** Address of the client that signed in. */
  address: string | null
  userAgent: string | null
  createdAt: number
  /** Accurate to a minute. */
  lastUsedAt: number
  expiresAt: number
  /** Null for the session of a key. */
  person: SessionPerson | null
  /** Tokens of the issuer, encrypted with the secret of the session. */
  tokens: string | null
  /** When the groups of the person were read. */
  checkedAt: number | null
  /** When the last attempt to read them again began. */
  triedAt: number | null
}

export type SessionPerson = {
  email: string | null
  /** Names of the owners at which the person has a role. */
  owners: string[]
}

export type ListedSession = StoredSession & { keyName: string; keyExpiresAt: number | null; ownerId: string }

/** Selects sessions of valid keys that have not expired, neither by age nor by disuse. */
type OpenAt = { now: number; usedAfter: number }

export type SessionStore = {
  createSession(session: StoredSession): Promise<void>
  /**
   * Deletes the ticket and creates the session, which gets the ticket's parent and expires no later than the parent.
   * Undefined when there is no such ticket or the parent has ended. One of several concurrent callers gets a session.
   */
  redeemTicket(redemption: { ticketId: string; session: StoredSession }): Promise<StoredSession | undefined>
  /** Includes expired ones until they are purged. Never stale: a session deleted before this call is not found. */
  findSession(session: { sessionId: string }): Promise<StoredSession | undefined>
  listSessions(list: OwnerList<string> & OpenAt): Promise<Sliced<ListedSession, string>>
  /** Also deletes its descendants. True for exactly one of several concurrent callers. */
  deleteSession(session: { sessionId: string; principal: string; at: number }): Promise<boolean>
  /** True for one of several concurrent callers: that one must read the person's groups again. */
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
