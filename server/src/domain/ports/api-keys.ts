import type { Scope } from '@jobcast/contract'
import type { StoredOwner } from './owners.ts'
import type { OwnerList, Sliced } from './slices.ts'

export type StoredApiKey = {
  keyId: string
  ownerNo: number
  ownerId: string
  keyName: string
  secretHash: Uint8Array
  scopes: Scope[]
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  createdAt: number
}

export type NewStoredApiKey = Omit<StoredApiKey, 'ownerId' | 'revokedAt' | 'lastUsedAt'>

export type ApiKeyStore = {
  /** Makes the owner if there is none, and this key of the first owner if that has none; false if it has. */
  createFirstKey(first: {
    owner: Omit<StoredOwner, 'ownerNo'>
    key: Omit<NewStoredApiKey, 'ownerNo'>
  }): Promise<boolean>
  createApiKey(key: NewStoredApiKey): Promise<StoredApiKey>
  /** Never stale: a key that was revoked before this call is seen as revoked. */
  findApiKey(key: { keyId: string }): StoredApiKey | undefined | Promise<StoredApiKey | undefined>
  listApiKeys(list: OwnerList<string>): Promise<Sliced<StoredApiKey, string>>
  /** False when this owner (undefined: any owner) has no such key. */
  revokeApiKey(key: { ownerNo: number | undefined; keyId: string; at: number }): Promise<boolean>
  recordKeyUse(uses: { keyId: string; at: number }[]): Promise<void>
}
