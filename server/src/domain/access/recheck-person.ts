// Re-reads groups, which change at the issuer. A person's session is valid for an hour after its groups were read; earlier than
// that, a request triggers reading them again with the refresh token. Requests wait for it only once the hour has passed, so
// people stay signed in through short outages of the issuer.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import { personOf } from './claims.ts'
import { IssuerUnavailable, SignInRefused } from './issuer-errors.ts'
import { grantsAtOwners, putPerson, sessionPersonOf } from './person-session.ts'
import type { Issuer } from './ports/issuer.ts'
import type { StoredSession } from './ports/sessions.ts'
import { service, subjectOf } from './principal.ts'
import type { GroupRoles } from './roles.ts'
import { openTokens, sealTokens } from './seal-tokens.ts'
import type { SessionDeps } from './session.ts'
import { tellAccess } from './tell-access.ts'

const goodForMs = 60 * 60_000
const againAfterMs = 45 * 60_000
/** A refresh token can be used once: no second attempt begins before the first has ended, on any node. */
const tryEveryMs = 30_000
/** A responsive issuer takes less. */
const waitForOtherMs = 5000
const pollIntervalMs = 200

type RecheckDeps = Pick<SessionDeps, 'store' | 'now' | 'tell'> & {
  issuer: Issuer
  groupRoles: GroupRoles
  groupClaim: string
  onFailure: (error: unknown) => void
}

/** Without OIDC settings there is no issuer to ask, so earlier sessions of people end within the hour. */
export function endAfterTheHour({ checkedAt }: Pick<StoredSession, 'checkedAt'>, now: number): void {
  if (checkedAt !== null && now - checkedAt >= goodForMs) throw new ApiError('J-808')
}

/** `elsewhere`: another request or node is trying, or has just tried. */
type Attempt = 'done' | 'failed' | 'elsewhere'

export function buildRecheck(deps: RecheckDeps) {
  const inFlight = new Map<string, Promise<Attempt>>()
  const again = (session: StoredSession, text: string): Promise<Attempt> => {
    const { sessionId } = session
    const attempt =
      inFlight.get(sessionId) ?? readAgain(deps, session, text).finally(() => inFlight.delete(sessionId))
    inFlight.set(sessionId, attempt)
    return attempt
  }
  return (session: StoredSession, now: number, text: string): void | Promise<void> => {
    const age = now - (session.checkedAt ?? now)
    if (age < againAfterMs) return
    if (session.tokens === null) return endAfterTheHour(session, now)
    if (age >= goodForMs)
      return again(session, text).then((attempt) => requireChecked(deps, session, attempt))
    again(session, text).catch(deps.onFailure)
  }
}

async function readAgain(deps: RecheckDeps, session: StoredSession, text: string): Promise<Attempt> {
  const { sessionId } = session
  const at = deps.now()
  if (!(await deps.store.claimCheck({ sessionId, at, triedBy: at - tryEveryMs }))) return 'elsewhere'
  // Another node may have read them since.
  const current = await deps.store.findSession({ sessionId })
  if (current === undefined || at - (current.checkedAt ?? 0) < againAfterMs) return 'done'
  const { refreshToken, idToken } = openTokens(current.tokens, text)
  const subject = subjectOf(session.keyId)
  if (refreshToken === null || subject === undefined) return 'failed'
  try {
    const { claims, tokens } = await deps.issuer.refresh(refreshToken, subject)
    const person = personOf(claims, deps.groupClaim)
    if (person?.subject !== subject) throw new SignInRefused('another subject')
    const grants = await grantsAtOwners(deps.store, deps.groupRoles, person)
    const held = grants.find(({ owner }) => owner.ownerNo === session.ownerNo)
    // Applies to the person's other sessions, too.
    await putPerson(deps, person, session.ownerNo, held ?? { scopes: [], restriction: null }, at)
    if (held === undefined) {
      await end(deps, session)
      return 'done'
    }
    const kept = { refreshToken: tokens.refreshToken ?? refreshToken, idToken: tokens.idToken ?? idToken }
    await deps.store.recordCheck({
      sessionId,
      person: sessionPersonOf(person, grants),
      tokens: sealTokens(kept, text),
      checkedAt: at,
    })
    return 'done'
  } catch (error) {
    if (error instanceof SignInRefused) await end(deps, session)
    else if (error instanceof IssuerUnavailable) deps.onFailure(error)
    else throw error
    return 'failed'
  }
}

/** After the hour: waits until the groups have been read, here or on another node. */
async function requireChecked(
  deps: RecheckDeps,
  { sessionId }: StoredSession,
  attempt: Attempt,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += pollIntervalMs) {
    const session = await deps.store.findSession({ sessionId })
    const now = deps.now()
    if (session === undefined) throw new ApiError('J-808')
    if (now - (session.checkedAt ?? 0) < goodForMs) return
    const isTried = session.triedAt !== null && now - session.triedAt < waitForOtherMs
    if (attempt === 'failed' || !isTried || waitedMs >= waitForOtherMs) throw new ApiError('J-808')
    await sleep(pollIntervalMs)
  }
}

async function end({ store, now, tell }: RecheckDeps, session: StoredSession): Promise<void> {
  const { sessionId } = session
  const isEnded = await store.deleteSession({ sessionId, principal: service, at: now() })
  if (isEnded) tellAccess({ tell }, 'session.signed_out', session, { sessionId })
}
