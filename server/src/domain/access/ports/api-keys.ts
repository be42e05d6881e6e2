import type { Scope } from '@jobcast/contract'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'
import type { Restriction } from '../restriction.ts'
import type { Maker } from './makers.ts'
import type { StoredOwner } from './owners.ts'

export type StoredApiKey = Maker & {
  keyId: string
  ownerNo: number
  ownerId: string
  keyName: string
  secretHash: Uint8Array
  scopes: Scope[]
  /** Null: all that its owner has, from anywhere. */
  restriction: Restriction | null
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  createdAt: number
}

/** A key as it was found before. `asOf`: what it is compared by where it is used (`Trigger.keyAsOf`). */
export type CachedKey = { key: StoredApiKey; asOf: string }

export type NewStoredApiKey = Omit<StoredApiKey, 'ownerId' | 'revokedAt' | 'lastUsedAt' | 'restriction'> & {
  restriction?: StoredApiKey['restriction']
}

export type KeyRevocation = {
  /** Undefined: of any owner. */
  ownerNo: number | undefined
  keyId: string
  /**
   * Also the keys it created, and those that these created, and the enrollments of all of them; what they left that would
   * still start by itself is paused.
   */
  withDescendants: boolean
  principal: string
  at: number
}

/** Schedules, and runs that have not started. */
export type LeftBehind = {
  pausedSchedules: { ownerId: string; scheduleName: string }[]
  pausedRuns: { ownerId: string; runId: number }[]
}

export type RevokeOutcome =
  /** Without those that were revoked or paused before. */
  | ({ kind: 'revoked'; keyIds: string[]; enrollmentIds: string[] } & LeftBehind)
  /** No key with ADMIN would be left that is neither revoked nor expired. */
  | { kind: 'last-admin' }
  | { kind: 'unknown' }

export type ApiKeyStore = {
  /** Makes the owner if there is none, and this key of the first owner if that has none; false if it has. */
  createFirstKey(first: {
    owner: Omit<StoredOwner, 'ownerNo'>
    key: Omit<NewStoredApiKey, 'ownerNo'>
  }): Promise<boolean>
  /** Undefined when the key that creates it has been revoked meanwhile. */
  createApiKey(key: NewStoredApiKey): Promise<StoredApiKey | undefined>
  /**
   * The key of a person (personKeyId) or a program: created, or its name, its scopes, its restriction and its expiry
   * changed.
   */
  putPersonKey(key: NewStoredApiKey): Promise<StoredApiKey>
  /** Never stale: a key that was revoked before this call is seen as revoked. */
  findApiKey(key: { keyId: string }): StoredApiKey | undefined | Promise<StoredApiKey | undefined>
  /** One that is remembered, and may be void by now. Of a store that finds keys at once, none. */
  cachedApiKey(key: { keyId: string }): CachedKey | undefined
  listApiKeys(list: OwnerList<string>): Promise<Sliced<StoredApiKey, string>>
  /** A key that was revoked before keeps the instant. No key of the revoked ones creates another one meanwhile. */
  revokeApiKey(revocation: KeyRevocation): Promise<RevokeOutcome>
  recordKeyUse(uses: { keyId: string; at: number }[]): Promise<void>
}
