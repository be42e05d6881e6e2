// Issuing, listing and revoking API keys, and the owners they act for.

import { ApiError, type NewApiKey, parseInstant, scopes } from '@jobcast/contract'
import { type Caller, requireScope } from './caller.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { StoredOwner } from './ports/owners.ts'
import type { Slice, Sliced } from './ports/slices.ts'
import type { Store } from './ports/store.ts'
import {
  hashSecret,
  newSecretText,
  randomText,
  type SecretText,
  secretId,
  secretMatches,
} from './secret-text.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

export type KeyDeps = { store: Store; now: () => number }

export async function createApiKey(
  deps: KeyDeps & QuotaDeps,
  caller: Caller,
  request: NewApiKey,
): Promise<{ key: StoredApiKey; apiKey: string }> {
  const granted = request.scopes ?? []
  for (const scope of granted) requireScope(caller, scope)
  const ownerNo = await ownerInReach(deps.store, caller, request.ownerId)
  const expiresAt = request.expiresAt ? parseInstant(request.expiresAt) : null
  const secret = newSecretText('jc')
  const stored = {
    keyId: secret.id,
    ownerNo,
    keyName: request.keyName,
    secretHash: hashSecret(secret.text),
    scopes: granted,
    expiresAt,
    createdAt: deps.now(),
  }
  const key = await withinQuota(deps, 'max-owner-keys', ownerNo, () => deps.store.createApiKey(stored))
  return { key, apiKey: secret.text }
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
  return deps.store.listApiKeys({ ownerNo: await ownerInReach(deps.store, caller, ownerId), slice })
}

/**
 * Idempotent. Only an ADMIN key can revoke an ADMIN key: otherwise a lesser key could leave the service without an
 * administrator.
 */
export async function revokeApiKey(deps: KeyDeps, caller: Caller, keyId: string): Promise<void> {
  const reach = caller.scopes.includes('ADMIN') ? undefined : caller.ownerNo
  const key = await deps.store.findApiKey({ keyId })
  const isOwn = key?.ownerNo === caller.ownerNo
  if (isOwn && key.scopes.includes('ADMIN')) requireScope(caller, 'ADMIN')
  if (!(await deps.store.revokeApiKey({ ownerNo: reach, keyId, at: deps.now() }))) throw new ApiError('J-805')
}

export async function isKnownKey({ store }: KeyDeps, apiKey: string): Promise<boolean> {
  const keyId = secretId('jc', apiKey)
  const key = keyId === undefined ? undefined : await store.findApiKey({ keyId })
  return secretMatches(apiKey, key?.secretHash)
}

export async function createOwner(deps: KeyDeps, ownerName: string): Promise<StoredOwner> {
  const created = await deps.store.createOwner(newOwner(ownerName, deps.now()))
  if (created === 'name-taken') throw new ApiError('J-807')
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
    key: {
      keyId: secret.id,
      keyName: 'admin',
      secretHash: hashSecret(secret.text),
      scopes: [...scopes],
      expiresAt: null,
      createdAt,
    },
  })
}

function newOwner(ownerName: string, createdAt: number): Omit<StoredOwner, 'ownerNo'> {
  return { ownerId: `ow_${randomText(12)}`, ownerName, createdAt }
}

/** Without ADMIN, a caller can reach only its own owner. */
async function ownerInReach(store: Store, caller: Caller, ownerId: string | undefined): Promise<number> {
  if (ownerId === undefined || ownerId === caller.ownerId) return caller.ownerNo
  requireScope(caller, 'ADMIN')
  const owner = await store.findOwner({ ownerId })
  if (owner === undefined) throw new ApiError('J-806')
  return owner.ownerNo
}
