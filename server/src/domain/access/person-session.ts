// Sessions of people: a person who signed in at the issuer acts at one owner, with the scopes of the roles from groups there.

import { ApiError } from '@jobcast/contract'
import { originOf } from '../audit/audit.ts'
import type { Store } from '../common/ports/store.ts'
import type { Caller } from './caller.ts'
import type { Person } from './claims.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { StoredOwner } from './ports/owners.ts'
import type { SessionPerson } from './ports/sessions.ts'
import { operator, personKeyId } from './principal.ts'
import { isFrom } from './restriction.ts'
import { addGrant, type Granted, type GroupRoles, grantsOf } from './roles.ts'
import { type IssuerTokens, sealTokens } from './seal-tokens.ts'
import { hashSecret, newSecretText } from './secret-text.ts'
import { createSession, newSession, type SessionDeps, type SigningIn, sessionMs } from './session.ts'
import { tellAccess } from './tell-access.ts'

export type OwnerGrant = Granted & { owner: StoredOwner }

/** The owners at which the person has a role. Owners that do not exist are left out (missingOwners). */
export async function grantsAtOwners(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  groupRoles: GroupRoles,
  { groups }: Pick<Person, 'groups'>,
): Promise<OwnerGrant[]> {
  const found = new Map<number, OwnerGrant>()
  for (const [name, granted] of grantsOf(groupRoles, groups)) {
    const owner = await findNamed(store, name)
    if (owner === undefined) continue
    found.set(owner.ownerNo, { owner, ...addGrant(found.get(owner.ownerNo), granted) })
  }
  return [...found.values()]
}

/** Owners named by the person's roles that do not exist: a mistake in the settings. */
export async function missingOwners(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  groupRoles: GroupRoles,
  { groups }: Pick<Person, 'groups'>,
): Promise<string[]> {
  const missing: string[] = []
  for (const name of grantsOf(groupRoles, groups).keys())
    if ((await findNamed(store, name)) === undefined) missing.push(name)
  return missing
}

/** Finds an owner by name or id. */
export async function findNamed(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  name: string,
): Promise<StoredOwner | undefined> {
  return (await store.findOwnerByName({ ownerName: name })) ?? (await store.findOwner({ ownerId: name }))
}

export function sessionPersonOf({ email }: Person, grants: readonly OwnerGrant[]): SessionPerson {
  return { email, owners: grants.map(({ owner }) => owner.ownerName) }
}

/** The tolerated difference between the clocks of the issuer and of this service. */
const clocksDifferMs = 60_000

/**
 * Stores what the person may do at an owner; takes effect in all sessions there. `readAt`: when the issuer named the groups. A
 * token from before a session read them again changes nothing: it would give back a role that the person has lost.
 */
export function putPerson(
  { store, now }: Pick<SessionDeps, 'store' | 'now'>,
  { subject, name }: Pick<Person, 'subject' | 'name'>,
  ownerNo: number,
  { scopes, restriction }: Granted,
  readAt: number,
): Promise<StoredApiKey> {
  return store.putPersonKey({
    keyId: personKeyId(ownerNo, subject),
    ownerNo,
    keyName: name,
    // A random secret that is never shown.
    secretHash: hashSecret(newSecretText('jc').text),
    scopes,
    restriction,
    expiresAt: null,
    createdAt: now(),
    createdBy: operator,
    createdBySession: null,
    unlessCheckedAfter: readAt + clocksDifferMs,
  })
}

type PersonSignIn = {
  person: Person
  grants: readonly OwnerGrant[]
  /** One of them. */
  at: OwnerGrant
  tokens: IssuerTokens
  client: SigningIn
  kind?: 'session' | 'exchange'
  /** Default: a working day. */
  lastsMs?: number
  /** When the issuer named the groups; default now. */
  checkedAt?: number | undefined
}

/** `admit` throws if the person may not sign in now: before anything is written. */
export async function signInPerson(
  deps: SessionDeps,
  {
    person,
    grants,
    at: { owner, scopes, restriction },
    tokens,
    client: { requestId, ...client },
    kind = 'session',
    lastsMs = sessionMs,
    checkedAt,
  }: PersonSignIn,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number; key: StoredApiKey }> {
  const { ownerNo, ownerId } = owner
  const keyId = personKeyId(ownerNo, person.subject)
  const from = { address: client.address, requestId }
  if (!isFrom({ restriction }, client.address)) throw new ApiError('J-802')
  const caller = { keyId, keyName: person.name, ownerNo, ownerId, scopes, from }
  admit(caller)
  const now = deps.now()
  const readAt = Math.min(checkedAt ?? now, now)
  const key = await putPerson(deps, person, ownerNo, { scopes, restriction }, readAt)
  if (key.revokedAt !== null) throw new ApiError('J-802')
  const origin = { person: sessionPersonOf(person, grants), checkedAt: readAt }
  const { text, session } = newSession(kind, key, now, client, origin)
  const expiresAt = Math.min(session.expiresAt, now + lastsMs)
  const stored = { ...session, expiresAt, tokens: sealTokens(tokens, text) }
  await createSession(deps, stored, originOf(caller))
  tellAccess(deps, 'session.signed_in', key, { sessionId: session.sessionId })
  return { session: text, expiresAt, key }
}
