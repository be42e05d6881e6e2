// Issuing, listing and revoking API keys, and the owners they act for.

import { ApiError, type NewApiKey, parseInstant, type Scope, scopes, toInstant } from '@jobcast/contract'
import { originOf } from '../audit/audit.ts'
import { listVisible } from '../common/list-visible.ts'
import { notFound } from '../common/not-found.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { requireScope } from './access.ts'
import { requireRanges } from './address-ranges.ts'
import { type Caller, makerOf } from './caller.ts'
import type { KeyRevocation, RevokeOutcome, StoredApiKey } from './ports/api-keys.ts'
import type { StoredOwner } from './ports/owners.ts'
import { operator, principalOf } from './principal.ts'
import { isConfined, restrictionWithin } from './restriction.ts'
import {
  hashSecret,
  newSecretText,
  randomText,
  type SecretText,
  secretId,
  secretMatches,
} from './secret-text.ts'
import { type TellAccessDeps, tellAccess } from './tell-access.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

export type KeyDeps = { store: Store; now: () => number }
export type ChangeKeyDeps = KeyDeps & TellAccessDeps

export async function createApiKey(
  deps: ChangeKeyDeps & QuotaDeps,
  caller: Caller,
  request: NewApiKey,
): Promise<{ key: StoredApiKey; apiKey: string }> {
  const granted = request.scopes ?? []
  // ADMIN keys from before these scopes existed do not hold them.
  const isYoung = (scope: Scope) => scope === 'APPROVE' || scope === 'AUDIT'
  for (const scope of granted) requireScope(caller, scope, ...(isYoung(scope) ? ['ADMIN' as const] : []))
  const ownerNo = await ownerInReach(deps.store, caller, request.ownerId)
  requireRanges(request.addresses ?? [])
  const restriction = restrictionWithin(caller, request, granted)
  const expiresAt = expiryWithin(await readOwnKey(deps, caller), request.expiresAt ?? undefined)
  const secret = newSecretText('jc')
  const stored = {
    keyId: secret.id,
    ownerNo,
    keyName: request.keyName,
    secretHash: hashSecret(secret.text),
    scopes: granted,
    restriction,
    expiresAt,
    createdAt: deps.now(),
    ...makerOf(caller),
    ...originOf(caller),
  }
  const key = await withinQuota(deps, 'keys', ownerNo, () => deps.store.createApiKey(stored), {
    isCreated: (created) => created !== undefined,
  })
  if (key === undefined) throw new ApiError('J-802')
  tellAccess(deps, 'key.created', caller, { keyId: key.keyId })
  return { key, apiKey: secret.text }
}

/** A key does not outlive the one that creates it: it has the same expiry, or an earlier one. */
function expiryWithin({ expiresAt: bound }: StoredApiKey, asked: string | undefined): number | null {
  if (asked === undefined) return bound
  const expiresAt = parseInstant(asked)
  if (bound === null || expiresAt <= bound) return expiresAt
  throw new ApiError('J-500', {
    field: 'expiresAt',
    detail: `expiresAt must be at or before ${toInstant(bound)}, when the key that creates it expires.`,
  })
}

export async function readOwnKey({ store }: KeyDeps, { keyId }: Caller): Promise<StoredApiKey> {
  const key = await store.findApiKey({ keyId })
  if (key === undefined) throw new ApiError('J-802')
  return key
}

export async function listApiKeys(
  deps: KeyDeps,
  caller: Caller,
  ownerId: string | undefined,
  slice: Slice<string>,
): Promise<Sliced<StoredApiKey, string>> {
  const ownerNo = await ownerInReach(deps.store, caller, ownerId)
  const list = (part: Slice<string>) => deps.store.listApiKeys({ ownerNo, slice: part })
  if (!isConfined(caller)) return list(slice)
  return listVisible(
    list,
    slice,
    (key) => isOwnOrMade(caller, key),
    ({ keyId }) => keyId,
  )
}

/** Restrictions of other keys may name jobs, so a confined caller sees only itself and the keys it has created. */
function isOwnOrMade(caller: Caller, { keyId, createdBy }: StoredApiKey): boolean {
  return keyId === caller.keyId || createdBy === principalOf(caller)
}

/**
 * Idempotent. Only an ADMIN key can revoke an ADMIN key, and nobody the last one: the service would be left without an
 * administrator. Without descendants, the keys it has created remain valid and are listed with their creator, and its
 * schedules and scheduled runs stay active.
 */
export async function revokeApiKey(
  deps: ChangeKeyDeps,
  caller: Caller,
  keyId: string,
  { withDescendants = false }: { withDescendants?: boolean } = {},
): Promise<Revoked> {
  const reach = caller.scopes.includes('ADMIN') ? undefined : caller.ownerNo
  const key = await deps.store.findApiKey({ keyId })
  if (isConfined(caller) && !(key && isOwnOrMade(caller, key))) throw notFound('J-805', keyId)
  const isOwn = key?.ownerNo === caller.ownerNo
  if (isOwn && key.scopes.includes('ADMIN')) requireScope(caller, 'ADMIN')
  const principal = principalOf(caller)
  const by = { principal, at: deps.now(), ...originOf(caller) }
  const revocation = { ownerNo: reach, keyId, withDescendants, ...by }
  const outcome = await revokeTwice(deps, revocation)
  if (outcome.kind === 'unknown') throw notFound('J-805', keyId)
  if (outcome.kind === 'last-admin') {
    throw new ApiError('J-812', { detail: 'Create another ADMIN key first.' })
  }
  for (const each of outcome.keyIds) tellAccess(deps, 'key.revoked', caller, { keyId: each })
  for (const each of outcome.enrollmentIds)
    tellAccess(deps, 'enrollment.revoked', caller, { enrollmentId: each })
  return outcome
}

/**
 * Calls that were authenticated before may still create a run while the keys are revoked. The second pass finds that run, or
 * else the call finds its key revoked (hold-run.ts).
 */
async function revokeTwice({ store }: ChangeKeyDeps, revocation: KeyRevocation): Promise<RevokeOutcome> {
  const first = await store.revokeApiKey(revocation)
  if (!revocation.withDescendants || first.kind !== 'revoked') return first
  const second = await store.revokeApiKey(revocation)
  if (second.kind !== 'revoked') return first
  return {
    kind: 'revoked',
    keyIds: [...first.keyIds, ...second.keyIds],
    enrollmentIds: [...first.enrollmentIds, ...second.enrollmentIds],
    pausedSchedules: [...first.pausedSchedules, ...second.pausedSchedules],
    pausedRuns: [...first.pausedRuns, ...second.pausedRuns],
  }
}

export type Revoked = Extract<RevokeOutcome, { kind: 'revoked' }>

export async function isStoredKey({ store }: KeyDeps, apiKey: string): Promise<boolean> {
  const keyId = secretId('jc', apiKey)
  const key = keyId === undefined ? undefined : await store.findApiKey({ keyId })
  return secretMatches(apiKey, key?.secretHash)
}

export async function createOwner(
  deps: ChangeKeyDeps,
  caller: Caller,
  ownerName: string,
): Promise<StoredOwner> {
  const creator = { ownerNo: caller.ownerNo, principal: principalOf(caller) }
  const created = await deps.store.createOwner({
    ...{ ...newOwner(ownerName, deps.now()), creator },
    ...originOf(caller),
  })
  if (created === 'name-taken') throw new ApiError('J-807')
  tellAccess(deps, 'owner.created', caller, { ownerId: created.ownerId })
  return created
}

/** True until an owner has a key: on an empty database, or after an interrupted first start. */
export async function needsFirstKey({ store }: KeyDeps): Promise<boolean> {
  const [first] = (await store.listOwners({ after: undefined, limit: 1 })).items
  if (first === undefined) return true
  return (
    (await store.listApiKeys({ ownerNo: first.ownerNo, slice: { after: undefined, limit: 1 } })).items
      .length === 0
  )
}

/** Owner `default` and a key with all scopes. False if another node created them at the same time. */
export function createFirstKey({ store, now }: KeyDeps, secret: SecretText): Promise<boolean> {
  const createdAt = now()
  return store.createFirstKey({
    owner: newOwner('default', createdAt),
    key: adminKey(secret, 'admin', createdAt),
  })
}

/** An ADMIN key of the first owner, for an operator who has lost all others. Undefined if there is no owner yet. */
export async function createAdminKey({ store, now }: KeyDeps): Promise<SecretText | undefined> {
  const [first] = (await store.listOwners({ after: undefined, limit: 1 })).items
  if (first === undefined) return undefined
  const secret = newSecretText('jc')
  await store.createApiKey({ ...adminKey(secret, 'admin (reset)', now()), ownerNo: first.ownerNo })
  return secret
}

function adminKey(secret: SecretText, keyName: string, createdAt: number) {
  return {
    keyId: secret.id,
    keyName,
    secretHash: hashSecret(secret.text),
    scopes: [...scopes],
    expiresAt: null,
    createdAt,
    createdBy: operator,
    createdBySession: null,
  }
}

function newOwner(ownerName: string, createdAt: number): Omit<StoredOwner, 'ownerNo'> {
  return { ownerId: `ow_${randomText(12)}`, ownerName, createdAt }
}

/** Without ADMIN, a caller can reach only its own owner. */
export async function ownerInReach(
  store: Store,
  caller: Caller,
  ownerId: string | undefined,
): Promise<number> {
  if (ownerId === undefined || ownerId === caller.ownerId) return caller.ownerNo
  requireScope(caller, 'ADMIN')
  const owner = await store.findOwner({ ownerId })
  if (owner === undefined) throw notFound('J-806', ownerId)
  return owner.ownerNo
}
