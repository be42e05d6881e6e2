// Exchanges an issuer's token for 15 minutes of access: the token of a program that `oidc-trust` allows, or of a person whose
// command line signed in at the issuer. Both get a session, sent in place of a key, so nothing remains after its end. Programs
// with the same subject share a key, under which their actions are listed and which can be revoked.

import { createHash } from 'node:crypto'
import { ApiError } from '@jobcast/contract'
import { originOf } from '../audit/audit.ts'
import { keyErrorOf } from './access.ts'
import type { Caller } from './caller.ts'
import { type Claims, isSubject, personOf } from './claims.ts'
import { IssuerUnavailable, reasonOf, SignInRefused } from './issuer-errors.ts'
import { findNamed, grantsAtOwners, type OwnerGrant, signInPerson } from './person-session.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { Issuer, VerifyTrusted } from './ports/issuer.ts'
import { operator } from './principal.ts'
import { isFrom } from './restriction.ts'
import type { GroupRoles } from './roles.ts'
import { hashSecret, newSecretText } from './secret-text.ts'
import { createSession, newSession, type SessionDeps, type SigningIn } from './session.ts'
import { tellAccess } from './tell-access.ts'
import { matchesSubject, type TrustRule } from './trust.ts'
import { withinQuota } from './within-quota.ts'

const exchangedMs = 15 * 60_000
const maxTokenBytes = 32 * 1024
const maxReasons = 1000
const keyNameLength = 128
const keyIdLength = 10

export type ExchangeDeps = SessionDeps & {
  verifyTrusted: VerifyTrusted
  trust: readonly TrustRule[]
  /** The settings for people who sign in. */
  people: People | undefined
  /** Logs the reason for the operator; the caller must not learn it. */
  onExchangeRefused: (reason: string) => void
}

export type People = {
  issuer: Issuer
  issuerUrl: string
  clientId: string
  /** The scopes that a client requests from the issuer. */
  scopes: string
  groupRoles: GroupRoles
  groupClaim: string
}

type Exchange = {
  token: string
  /** Of a person, for issuers that return groups only from /userinfo. */
  accessToken: string | undefined
  /** Name or id, if several owners are possible. */
  owner: string | undefined
  client: SigningIn
}

/** Throws J-802 for any mismatch, so that callers cannot probe the rules. The log has the reason. */
export async function exchangeToken(
  deps: ExchangeDeps,
  exchange: Exchange,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number }> {
  const issuer = issuerOf(exchange.token)
  const reasons: string[] = []
  try {
    const program = await findProgram(deps, exchange, issuer, reasons)
    if (program) return await signInProgram(deps, program, exchange.client, admit)
    if (deps.people && issuer === deps.people.issuerUrl) return await exchangePerson(deps, exchange, admit)
  } catch (error) {
    const isAway = error instanceof IssuerUnavailable
    if (!isAway && !(error instanceof SignInRefused)) throw error
    reasons.push(reasonOf(error))
    if (isAway) {
      deps.onExchangeRefused(reasonsText(reasons))
      throw new ApiError('J-813')
    }
  }
  if (reasons.length === 0) reasons.push(`no setting names the issuer ${JSON.stringify(issuer ?? null)}`)
  deps.onExchangeRefused(reasonsText(reasons))
  throw new ApiError('J-802')
}

/** Truncated, because parts come from an unverified token. */
function reasonsText(reasons: readonly string[]): string {
  return reasons.join('; ').slice(0, maxReasons)
}

type Program = OwnerGrant & Pick<TrustRule, 'issuer' | 'audience'> & { subject: string }

async function findProgram(
  deps: ExchangeDeps,
  { token, owner: wanted }: Exchange,
  issuer: string | undefined,
  reasons: string[],
): Promise<Program | undefined> {
  const rules = deps.trust.filter((rule) => rule.issuer === issuer)
  for (const audience of new Set(rules.map((rule) => rule.audience))) {
    const claims = await verified(deps, token, { issuer: issuer ?? '', audience }, reasons)
    if (claims === undefined) continue
    const subject = claims.sub
    if (typeof subject !== 'string' || !isSubject(subject)) {
      reasons.push(`the subject for the audience ${audience} is no text of up to 255 characters`)
      continue
    }
    const known = reasons.length
    for (const rule of rules) {
      if (rule.audience !== audience || !matchesSubject(rule.subject, subject)) continue
      const owner = await findNamed(deps.store, rule.owner)
      if (owner === undefined) {
        reasons.push(`the rule for ${rule.subject} names the owner ${rule.owner}, which does not exist`)
        continue
      }
      if (wanted !== undefined && wanted !== owner.ownerName && wanted !== owner.ownerId) {
        reasons.push(`the rule for ${rule.subject} is not for the owner ${JSON.stringify(wanted)}`)
        continue
      }
      const { restriction = null } = rule
      return { owner, scopes: [...rule.scopes], restriction, subject, issuer: rule.issuer, audience }
    }
    if (reasons.length === known)
      reasons.push(`no rule with the audience ${audience} matches the subject ${JSON.stringify(subject)}`)
  }
  return undefined
}

/** Undefined: the token is for another audience, or invalid. */
async function verified(
  { verifyTrusted }: ExchangeDeps,
  token: string,
  expected: { issuer: string; audience: string },
  reasons: string[],
): Promise<Claims | undefined> {
  try {
    return await verifyTrusted(token, expected)
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    reasons.push(`for the audience ${expected.audience}: ${reasonOf(error)}`)
    return undefined
  }
}

async function signInProgram(
  deps: ExchangeDeps,
  program: Program,
  { requestId, ...client }: SigningIn,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number }> {
  const { owner, scopes, restriction } = program
  if (!isFrom({ restriction }, client.address)) throw new ApiError('J-802')
  const keyId = programKeyId(program)
  const from = { address: client.address, requestId }
  const caller = { keyId, ownerNo: owner.ownerNo, ownerId: owner.ownerId, scopes, from }
  admit(caller)
  const now = deps.now()
  const expiresAt = now + exchangedMs
  const key = await putProgramKey(deps, keyId, program, { now, expiresAt })
  if (key.revokedAt !== null) throw new ApiError('J-802')
  const { text, session } = newSession('exchange', key, now, client)
  await createSession(deps, { ...session, expiresAt }, originOf({ ...caller, keyName: key.keyName }))
  tellAccess(deps, 'session.signed_in', key, { sessionId: session.sessionId })
  return { session: text, expiresAt }
}

/** The key expires with its last session, so no key that a program creates lasts longer. Expired keys do not count. */
async function putProgramKey(
  deps: ExchangeDeps,
  keyId: string,
  { owner, scopes, restriction, subject }: Program,
  { now, expiresAt }: { now: number; expiresAt: number },
): Promise<StoredApiKey> {
  const before = await deps.store.findApiKey({ keyId })
  if (before !== undefined && before.revokedAt !== null) return before
  const key = {
    keyId,
    ownerNo: owner.ownerNo,
    keyName: subject.slice(0, keyNameLength),
    // A random secret that is never shown.
    secretHash: hashSecret(newSecretText('jc').text),
    scopes,
    restriction,
    expiresAt,
    createdAt: now,
    createdBy: operator,
    createdBySession: null,
    unlessCheckedAfter: now,
  }
  const put = () => deps.store.putPersonKey(key)
  const isCounted = before !== undefined && keyErrorOf(before, now) === undefined
  return isCounted ? put() : withinQuota(deps, 'keys', owner.ownerNo, put)
}

/**
 * One key per subject, so that there are as many keys as programs, not calls, and a revoked program stays revoked when the
 * rule's scopes change. The audience is part of it, because it selects the rule and so the scopes of sessions.
 */
function programKeyId({ issuer, audience, subject, owner }: Program): string {
  const what = JSON.stringify([issuer, audience, subject, owner.ownerNo])
  const digits = createHash('sha256')
    .update(what)
    .digest('base64')
    .replace(/[^0-9A-Za-z]/g, '')
  return digits.slice(0, keyIdLength)
}

async function exchangePerson(
  deps: ExchangeDeps,
  { token, accessToken, owner: wanted, client }: Exchange,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number }> {
  const { people } = deps
  if (people === undefined) throw new ApiError('J-802')
  const claims = await people.issuer.verify(token, accessToken)
  return signInByClaims(deps, people, { claims, owner: wanted, client }, admit)
}

type ByClaims = {
  claims: Claims
  owner: string | undefined
  client: SigningIn
  /** When the token ends, if the session must not last longer. */
  until?: number | undefined
}

/** A session without a refresh token. Throws SignInRefused if the person has no role. */
export async function signInByClaims(
  deps: SessionDeps,
  people: Pick<People, 'groupRoles' | 'groupClaim'>,
  { claims, owner: wanted, client, until = Number.POSITIVE_INFINITY }: ByClaims,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number }> {
  const person = personOf(claims, people.groupClaim)
  const grants = person && (await grantsAtOwners(deps.store, people.groupRoles, person))
  const at = grants?.find(({ owner }) => !wanted || wanted === owner.ownerName || wanted === owner.ownerId)
  if (person === undefined || grants === undefined) throw new SignInRefused('the token names no subject')
  if (at === undefined) {
    const where = wanted === undefined ? '' : ` at ${JSON.stringify(wanted)}`
    throw new SignInRefused(`${JSON.stringify(person.subject)} has no role${where}`)
  }
  const tokens = { refreshToken: null, idToken: null }
  const checkedAt = typeof claims.iat === 'number' ? Math.floor(claims.iat * 1000) : undefined
  const lastsMs = Math.min(exchangedMs, until - deps.now())
  return signInPerson(
    deps,
    { person, grants, at, tokens, client, kind: 'exchange', lastsMs, checkedAt },
    admit,
  )
}

/** Not verified: used only to select the keys for the verification. */
function issuerOf(token: string): string | undefined {
  if (token.length > maxTokenBytes) return undefined
  try {
    const [, payload = ''] = token.split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    const { iss } = (claims ?? {}) as Claims
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}
