// Sessions of browsers, under the rules of store.ts.

/** `session`: a browser that is signed in. `ticket`: signs in once. */
export type SessionKind = 'session' | 'ticket'

export type StoredSession = {
  sessionId: string
  kind: SessionKind
  /** The key it acts for. */
  keyId: string
  secretHash: Uint8Array
  expiresAt: number
}

export type SessionStore = {
  createSession(session: StoredSession): Promise<void>
  /** Expired ones too, until they are purged. Never stale: one that was deleted before this call is not found. */
  findSession(session: { sessionId: string }): Promise<StoredSession | undefined>
  /** True for the one caller that has deleted it, however many try at once. */
  deleteSession(session: { sessionId: string }): Promise<boolean>
  /** Purges some of those that had expired by then; true while there may be more. */
  purgeSessions(age: { expiredBy: number }): Promise<boolean>
}
