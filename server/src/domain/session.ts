// Sign-in: exchanges an API key, or a ticket issued for a key, for a session that a browser uses in place of the key.
// A session has the rights of its key: if the key is revoked, expired or lacks the scope, the request is refused.

import { ApiError, type SignIn } from '@jobcast/contract'
import { readOwnKey } from './api-key.ts'
import { type Caller, callerOfKey, identifyCaller } from './caller.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { SessionKind, StoredSession } from './ports/sessions.ts'
import type { Store } from './ports/store.ts'
import { hashSecret, newSecretText, secretId, secretMatches } from './secret-text.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

export type SessionDeps = QuotaDeps & { store: Store; now: () => number }

/** Fixed, not sliding, which would make every request a write. Long enough for a working day. */
export const sessionMs = 12 * 60 * 60_000
const ticketMs = 10 * 60_000

const prefixOf = { session: 'js', ticket: 'jt' } as const

export async function signIn(
  deps: SessionDeps,
  { apiKey, ticket }: SignIn,
): Promise<{ session: string; key: StoredApiKey }> {
  const now = deps.now()
  const caller =
    ticket === undefined
      ? await identifyCaller(deps.store, apiKey, now)
      : await callerOfKey(deps.store, await redeemTicket(deps, ticket), now)
  const key = await readOwnKey(deps, caller)
  return { session: await issue(deps, 'session', caller.keyId, now + sessionMs), key }
}

export async function issueTicket(
  deps: SessionDeps,
  { keyId }: Caller,
): Promise<{ ticket: string; expiresAt: number }> {
  const expiresAt = deps.now() + ticketMs
  return { ticket: await issue(deps, 'ticket', keyId, expiresAt), expiresAt }
}

/** A session acts for its key. */
export async function identifySession(
  store: Pick<Store, 'findSession' | 'findApiKey'>,
  text: string,
  now: number,
): Promise<Caller> {
  const session = await findValid(store, 'session', text, now)
  if (session === undefined) throw new ApiError('J-808')
  return callerOfKey(store, session.keyId, now)
}

/** Idempotent: an invalid session is already signed out. */
export async function signOut({ store, now }: SessionDeps, text: string): Promise<void> {
  const session = await findValid(store, 'session', text, now())
  if (session) await store.deleteSession({ sessionId: session.sessionId })
}

/** Returns the id of its key. The deletion makes sure that only one of several concurrent callers succeeds. */
async function redeemTicket({ store, now }: SessionDeps, text: string): Promise<string> {
  const ticket = await findValid(store, 'ticket', text, now())
  if (ticket === undefined || !(await store.deleteSession({ sessionId: ticket.sessionId })))
    throw new ApiError('J-808')
  return ticket.keyId
}

async function issue(
  deps: SessionDeps,
  kind: SessionKind,
  keyId: string,
  expiresAt: number,
): Promise<string> {
  const { id, text } = newSecretText(prefixOf[kind])
  const session = { sessionId: id, kind, keyId, secretHash: hashSecret(text), expiresAt }
  await withinQuota(deps, 'max-key-sessions', keyId, () => deps.store.createSession(session))
  return text
}

async function findValid(
  store: Pick<Store, 'findSession'>,
  kind: SessionKind,
  text: string,
  now: number,
): Promise<StoredSession | undefined> {
  const sessionId = secretId(prefixOf[kind], text)
  if (sessionId === undefined) return undefined
  const stored = await store.findSession({ sessionId })
  const matches = secretMatches(text, stored?.secretHash)
  return matches && stored?.kind === kind && stored.expiresAt > now ? stored : undefined
}
