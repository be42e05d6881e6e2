// Sessions of browsers, under the rules of store.ts.

/** `session`: a signed-in browser. `ticket`: valid for one sign-in. */
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
  /** Includes expired ones until they are purged. Never stale: a session deleted before this call is not found. */
  findSession(session: { sessionId: string }): Promise<StoredSession | undefined>
  /** True for exactly one of several concurrent callers. */
  deleteSession(session: { sessionId: string }): Promise<boolean>
  /** Purges a batch of those that had expired by then; true while there may be more. */
  purgeSessions(age: { expiredBy: number }): Promise<boolean>
}
