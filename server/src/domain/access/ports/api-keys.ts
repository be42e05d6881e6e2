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
  /** Null: everything of its owner, from any address. */
  restriction: Restriction | null
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  createdAt: number
}

/** A cached key. `asOf`: compared with the stored key when it is used (`Trigger.keyAsOf`). */
export type CachedKey = { key: StoredApiKey; asOf: string }

export type NewStoredApiKey = Omit<StoredApiKey, 'ownerId' | 'revokedAt' | 'lastUsedAt' | 'restriction'> & {
  restriction?: StoredApiKey['restriction']
}

export type KeyRevocation = {
  /** Undefined: any owner. */
  ownerNo: number | undefined
  keyId: string
  /**
   * Also revokes the keys that descend from it and the enrollments of all of them, and pauses their schedules and scheduled
   * runs.
   */
  withDescendants: boolean
  principal: string
  at: number
}

/** Paused schedules, and paused runs that have not started. */
export type LeftBehind = {
  pausedSchedules: { ownerId: string; scheduleName: string }[]
  pausedRuns: { ownerId: string; runId: number }[]
}

export type RevokeOutcome =
  /** Excludes what was revoked or paused before. */
  | ({ kind: 'revoked'; keyIds: string[]; enrollmentIds: string[] } & LeftBehind)
  /** No key with ADMIN would be left that is neither revoked nor expired. */
  | { kind: 'last-admin' }
  | { kind: 'unknown' }

export type ApiKeyStore = {
  /** Creates the owner if there is none, and the key if the first owner has none; false if it has one. */
  createFirstKey(first: {
    owner: Omit<StoredOwner, 'ownerNo'>
    key: Omit<NewStoredApiKey, 'ownerNo'>
  }): Promise<boolean>
  /** Undefined when the key that creates it has been revoked meanwhile. */
  createApiKey(key: NewStoredApiKey): Promise<StoredApiKey | undefined>
  /**
   * The key of a person (personKeyId) or a program: created, or its name, its scopes, its restriction and its expiry
   * changed. Unchanged if the groups of one of its sessions were read after `unlessCheckedAfter`.
   */
  putPersonKey(key: NewStoredApiKey & { unlessCheckedAfter: number }): Promise<StoredApiKey>
  /** Never stale: a key that was revoked before this call is seen as revoked. */
  findApiKey(key: { keyId: string }): StoredApiKey | undefined | Promise<StoredApiKey | undefined>
  /** A cached key, which may be outdated. Always undefined for a store that finds keys synchronously. */
  cachedApiKey(key: { keyId: string }): CachedKey | undefined
  listApiKeys(list: OwnerList<string>): Promise<Sliced<StoredApiKey, string>>
  /** A key that was revoked before keeps its time of revocation. None of the revoked keys can create another one meanwhile. */
  revokeApiKey(revocation: KeyRevocation): Promise<RevokeOutcome>
  recordKeyUse(uses: { keyId: string; at: number }[]): Promise<void>
}
