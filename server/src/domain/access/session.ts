// Sign-in: exchanges an API key, or a ticket issued for a key, for a session that a browser uses in place of the key.
// A session has the rights of its key: if the key is revoked, expired or lacks the scope, the request is refused. It also
// ends when it is not used, and with the session that it was created from.

import { timingSafeEqual } from 'node:crypto'
import { ApiError, type SignIn } from '@jobcast/contract'
import { originOf } from '../audit/audit.ts'
import type { Originated } from '../audit/ports/entries.ts'
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
  /** A session ends after this time without a request. */
  readonly idleMs: number
  lastUsedAt(session: Pick<StoredSession, 'sessionId' | 'lastUsedAt'>): number
}

export type IdentifySessionDeps = {
  store: Pick<Store, 'findSession' | 'findApiKey'>
  sessionUse: SessionUseView
  /** Throws J-808 if the person's groups were read too long ago. */
  recheckPerson: (session: StoredSession, now: number, text: string) => void | Promise<void>
}

export type SessionDeps = TellAccessDeps &
  QuotaDeps & { store: Store; now: () => number; sessionUse: SessionUseView }

/** Who signs in, for the list of sessions. */
type Client = { address: string | null; userAgent: string | null }
type From = { address: string; requestId: string }
export type SigningIn = Client & From

/** The maximum duration, however often it is used: a working day. */
export const sessionMs = 12 * 60 * 60_000
const ticketMs = 10 * 60_000

/** The length of a SHA-256 in base64url. */
const endingHashLength = 43

const prefixOf = { session: 'js', ticket: 'jt', exchange: 'jx' } as const

/** `admit` throws if the key may not sign in now: before anything is written. */
export async function signIn(
  deps: SessionDeps,
  { apiKey, ticket }: SignIn,
  { requestId, ...client }: SigningIn,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number; key: StoredApiKey }> {
  const now = deps.now()
  const redeemed = ticket === undefined ? undefined : await findTicket(deps, ticket)
  const caller = redeemed
    ? await callerOfKey(deps.store, redeemed.keyId, now, client.address)
    : await identifyCaller(deps.store, apiKey, now, client.address)
  admit(caller)
  const by = originOf({ ...caller, from: { address: client.address, requestId } })
  const key = await readOwnKey(deps, caller)
  const { text, session } = newSession('session', key, now, client, redeemed)
  // A ticket is counted already, and the session takes its place.
  const stored = redeemed
    ? await deps.store.redeemTicket({ ticketId: redeemed.sessionId, session, ...by })
    : await createSession(deps, session, by)
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
  const parent =
    caller.sessionId === undefined ? undefined : await deps.store.findSession({ sessionId: caller.sessionId })
  const nobody = { address: null, userAgent: null }
  const { text, session } = newSession('ticket', key, deps.now(), nobody, parent)
  session.parentId = caller.sessionId ?? null
  await createSession(deps, session, originOf(caller))
  return { ticket: text, expiresAt: session.expiresAt }
}

/** Returns whom a ticket would sign in, without redeeming it. */
export async function readTicket(
  deps: SessionDeps,
  text: string,
  address: string,
): Promise<{ ticket: StoredSession; key: StoredApiKey; ownerName: string }> {
  const ticket = await findTicket(deps, text)
  const key = await readOwnKey(deps, await callerOfKey(deps.store, ticket.keyId, deps.now(), address))
  const owner = await deps.store.findOwner({ ownerId: key.ownerId })
  return { ticket, key, ownerName: owner?.ownerName ?? key.ownerId }
}

/** A session acts for its key. */
export async function identifySession(
  { store, sessionUse, recheckPerson }: IdentifySessionDeps,
  text: string,
  now: number,
  address: string,
  kind: 'session' | 'exchange' = 'session',
): Promise<Caller> {
  const session = await findValid(store, kind, text, now)
  if (session === undefined || sessionUse.lastUsedAt(session) + sessionUse.idleMs <= now)
    throw new ApiError('J-808')
  if (session.checkedAt !== null) await recheckPerson(session, now, text)
  return { ...(await callerOfKey(store, session.keyId, now, address)), sessionId: session.sessionId }
}

/** Idempotent: an invalid session is already signed out. */
export async function signOut(deps: SessionDeps, text: string, from: From): Promise<void> {
  const session = await findValid(deps.store, 'session', text, deps.now())
  if (session) await endOwn(deps, session, from)
}

/** A value that can only end the session; null if the text is not a session. */
export function sessionEnding(text: string): string | null {
  const sessionId = secretId('js', text)
  return sessionId === undefined ? null : sessionId + Buffer.from(hashSecret(text)).toString('base64url')
}

export async function signOutByEnding(deps: SessionDeps, ending: string, from: From): Promise<void> {
  const session = await deps.store.findSession({ sessionId: ending.slice(0, -endingHashLength) })
  const hashed = Buffer.from(ending.slice(-endingHashLength), 'base64url')
  const isItsOwn = session?.kind === 'session' && hashed.length === session.secretHash.length
  if (isItsOwn && timingSafeEqual(hashed, session.secretHash)) await endOwn(deps, session, from)
}

async function endOwn(deps: SessionDeps, session: StoredSession, from: From): Promise<void> {
  const key = await deps.store.findApiKey(session)
  const origin = { principal: principalOf(session), name: key?.keyName ?? null, ...from }
  await endStored(deps, session, session, { origin })
}

/** Lists valid sessions. Sessions of other owners need ADMIN. */
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
  if (session === undefined || session.kind === 'ticket' || (!isAdmin && session.ownerNo !== caller.ownerNo))
    throw new ApiError('J-811')
  const key = await deps.store.findApiKey({ keyId: session.keyId })
  if (key?.scopes.includes('ADMIN')) requireScope(caller, 'ADMIN')
  if (!(await endStored(deps, session, caller, originOf(caller)))) throw new ApiError('J-811')
}

async function endStored(
  deps: SessionDeps,
  { sessionId }: StoredSession,
  by: Pick<Caller, 'keyId'>,
  origin: Originated,
): Promise<boolean> {
  const at = deps.now()
  const isEnded = await deps.store.deleteSession({ sessionId, principal: principalOf(by), at, ...origin })
  if (isEnded) tellAccess(deps, 'session.signed_out', by, { sessionId })
  return isEnded
}

async function findTicket({ store, now }: SessionDeps, text: string): Promise<StoredSession> {
  const ticket = await findValid(store, 'ticket', text, now())
  if (ticket === undefined) throw new ApiError('J-808')
  return ticket
}

/** `origin`: a person's session or ticket. Without tokens of its own, the new session ends once the groups are outdated. */
export function newSession(
  kind: SessionKind,
  { keyId, ownerNo }: StoredApiKey,
  now: number,
  client: Client,
  origin?: Pick<StoredSession, 'person' | 'checkedAt'>,
): { text: string; session: StoredSession } {
  const { id, text } = newSecretText(prefixOf[kind])
  const session = {
    sessionId: id,
    kind,
    keyId,
    ownerNo,
    secretHash: hashSecret(text),
    parentId: null,
    ...client,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + (kind === 'ticket' ? ticketMs : sessionMs),
    person: origin?.person ?? null,
    tokens: null,
    checkedAt: origin?.checkedAt ?? null,
    triedAt: null,
  }
  return { text, session }
}

export async function createSession(
  deps: SessionDeps,
  session: StoredSession,
  by: Originated,
): Promise<StoredSession> {
  await withinQuota(deps, 'key-sessions', session.keyId, () =>
    deps.store.createSession({ ...session, ...by }),
  )
  return session
}

/** A session as its browser shows it; undefined if it has ended. */
export async function findValid(
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
