// Sign-in: exchanges an API key, or a ticket issued for a key, for a session that a browser uses in place of the key.
// A session has the rights of its key: if the key is revoked, expired or lacks the scope, the request is refused. It also
// ends when it is not used, and with the session that it was created from.

import { ApiError, type SignIn } from '@jobcast/contract'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { requireScope } from './access.ts'
import { ownerInReach, readOwnKey } from './api-key.ts'
import { type Caller, callerOfKey, identifyCaller } from './caller.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { ListedSession, SessionKind, StoredSession } from './ports/sessions.ts'
import { principalOf } from './principal.ts'
import { hashSecret, newSecretText, secretId, secretMatches } from './secret-text.ts'
import { type TellAccessDeps, tellAccess } from './tell-access.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

/** When sessions were last used; the store may be up to a minute behind. */
export type SessionUseView = {
  /** After so long without a request a session ends. */
  readonly idleMs: number
  lastUsedAt(session: Pick<StoredSession, 'sessionId' | 'lastUsedAt'>): number
}

export type IdentifySessionDeps = {
  store: Pick<Store, 'findSession' | 'findApiKey'>
  sessionUse: SessionUseView
}

export type SessionDeps = TellAccessDeps &
  QuotaDeps & { store: Store; now: () => number; sessionUse: SessionUseView }

/** Who signs in, for the list of sessions. */
type Client = { address: string | null; userAgent: string | null }

/** However often it is used. Long enough for a working day. */
const sessionMs = 12 * 60 * 60_000
const ticketMs = 10 * 60_000

const prefixOf = { session: 'js', ticket: 'jt' } as const

/** `admit` throws if the key may not sign in now: before anything is written. */
export async function signIn(
  deps: SessionDeps,
  { apiKey, ticket }: SignIn,
  client: Client,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number; key: StoredApiKey }> {
  const now = deps.now()
  const redeemed = ticket === undefined ? undefined : await findTicket(deps, ticket)
  const caller = redeemed
    ? await callerOfKey(deps.store, redeemed.keyId, now)
    : await identifyCaller(deps.store, apiKey, now)
  admit(caller)
  const key = await readOwnKey(deps, caller)
  const { text, session } = newSession('session', key, now, client)
  // A ticket is counted already, and the session takes its place.
  const stored = redeemed
    ? await deps.store.redeemTicket({ ticketId: redeemed.sessionId, session })
    : await createSession(deps, session)
  if (stored === undefined) throw new ApiError('J-808')
  tellAccess(deps, 'session.signed_in', caller, { sessionId: session.sessionId })
  return { session: text, expiresAt: stored.expiresAt, key }
}

/** A ticket of a session ends with it, and so does the session that it signs in: a session cannot renew itself. */
export async function issueTicket(
  deps: SessionDeps,
  caller: Caller,
): Promise<{ ticket: string; expiresAt: number }> {
  const key = await readOwnKey(deps, caller)
  const parentId = caller.sessionId ?? null
  const { text, session } = newSession(
    'ticket',
    key,
    deps.now(),
    { address: null, userAgent: null },
    parentId,
  )
  await createSession(deps, session)
  return { ticket: text, expiresAt: session.expiresAt }
}

/** As whom a ticket would sign in. It remains valid. */
export async function readTicket(
  deps: SessionDeps,
  text: string,
): Promise<{ ticket: StoredSession; key: StoredApiKey; ownerName: string }> {
  const ticket = await findTicket(deps, text)
  const key = await readOwnKey(deps, await callerOfKey(deps.store, ticket.keyId, deps.now()))
  const owner = await deps.store.findOwner({ ownerId: key.ownerId })
  return { ticket, key, ownerName: owner?.ownerName ?? key.ownerId }
}

/** A session acts for its key. */
export async function identifySession(
  { store, sessionUse }: IdentifySessionDeps,
  text: string,
  now: number,
): Promise<Caller> {
  const session = await findValid(store, 'session', text, now)
  if (session === undefined || sessionUse.lastUsedAt(session) + sessionUse.idleMs <= now)
    throw new ApiError('J-808')
  return { ...(await callerOfKey(store, session.keyId, now)), sessionId: session.sessionId }
}

/** Idempotent: an invalid session is already signed out. */
export async function signOut(deps: SessionDeps, text: string): Promise<void> {
  const session = await findValid(deps.store, 'session', text, deps.now())
  if (session) await endStored(deps, session, session)
}

/** Those that are still valid. Sessions of other owners need ADMIN. */
export async function listSessions(
  { store, now, sessionUse }: SessionDeps,
  caller: Caller,
  ownerId: string | undefined,
  slice: Slice<string>,
): Promise<Sliced<ListedSession, string>> {
  const ownerNo = await ownerInReach(store, caller, ownerId)
  const at = now()
  const { items, next } = await store.listSessions({
    ownerNo,
    slice,
    now: at,
    usedAfter: at - sessionUse.idleMs,
  })
  return {
    items: items.map((session) => ({
      ...session,
      lastUsedAt: sessionUse.lastUsedAt(session),
      expiresAt: Math.min(session.expiresAt, session.keyExpiresAt ?? session.expiresAt),
    })),
    next,
  }
}

/** Ends the session of another browser. As with keys, that of an ADMIN key is ended only by an ADMIN key. */
export async function endSession(deps: SessionDeps, caller: Caller, sessionId: string): Promise<void> {
  const session = await deps.store.findSession({ sessionId })
  const isAdmin = caller.scopes.includes('ADMIN')
  if (session?.kind !== 'session' || (!isAdmin && session.ownerNo !== caller.ownerNo))
    throw new ApiError('J-811')
  const key = await deps.store.findApiKey({ keyId: session.keyId })
  if (key?.scopes.includes('ADMIN')) requireScope(caller, 'ADMIN')
  if (!(await endStored(deps, session, caller))) throw new ApiError('J-811')
}

async function endStored(
  deps: SessionDeps,
  { sessionId }: StoredSession,
  by: Pick<Caller, 'keyId'>,
): Promise<boolean> {
  const isEnded = await deps.store.deleteSession({ sessionId, principal: principalOf(by), at: deps.now() })
  if (isEnded) tellAccess(deps, 'session.signed_out', by, { sessionId })
  return isEnded
}

async function findTicket({ store, now }: SessionDeps, text: string): Promise<StoredSession> {
  const ticket = await findValid(store, 'ticket', text, now())
  if (ticket === undefined) throw new ApiError('J-808')
  return ticket
}

function newSession(
  kind: SessionKind,
  { keyId, ownerNo }: StoredApiKey,
  now: number,
  client: Client,
  parentId: string | null = null,
): { text: string; session: StoredSession } {
  const { id, text } = newSecretText(prefixOf[kind])
  const session = {
    sessionId: id,
    kind,
    keyId,
    ownerNo,
    secretHash: hashSecret(text),
    parentId,
    ...client,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + (kind === 'session' ? sessionMs : ticketMs),
  }
  return { text, session }
}

async function createSession(deps: SessionDeps, session: StoredSession): Promise<StoredSession> {
  await withinQuota(deps, 'max-key-sessions', session.keyId, () => deps.store.createSession(session))
  return session
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
