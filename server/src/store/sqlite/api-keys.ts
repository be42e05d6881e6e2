import type { DatabaseSync } from 'node:sqlite'
import type { NewStoredApiKey, Slice, Sliced, StoredApiKey, StoredOwner } from '../../domain/store.ts'
import { toApiKey } from '../from-rows.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT key_id, api_key.owner_no, owner_id, key_name, secret_hash, scopes, expires_at, revoked_at, last_used_at,
    api_key.created_at
  FROM api_key JOIN owner USING (owner_no)`
const INSERT = `
  INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, expires_at, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`
const INSERT_FIRST_OWNER = `
  INSERT INTO owner (owner_id, owner_name, created_at) SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM owner)`
const FIRST_OWNER = `
  SELECT owner_no, EXISTS (SELECT 1 FROM api_key WHERE api_key.owner_no = owner.owner_no) AS has_key
  FROM owner ORDER BY owner_no LIMIT 1`
const LIST = `${SELECT} WHERE api_key.owner_no = ? AND key_id > ? ORDER BY key_id LIMIT ?`
// A second revocation keeps the instant of the first.
const REVOKE = `
  UPDATE api_key SET revoked_at = coalesce(revoked_at, :at)
  WHERE key_id = :keyId AND owner_no = coalesce(:ownerNo, owner_no)`
const USE = 'UPDATE api_key SET last_used_at = ? WHERE key_id = ?'

export type FirstKey = { owner: Omit<StoredOwner, 'ownerNo'>; key: Omit<NewStoredApiKey, 'ownerNo'> }

export function prepareApiKeys(db: DatabaseSync) {
  const insert = db.prepare(INSERT)
  const find = db.prepare(`${SELECT} WHERE key_id = ?`)
  const all = db.prepare(SELECT)
  const insertFirstOwner = db.prepare(INSERT_FIRST_OWNER)
  const firstOwner = db.prepare(FIRST_OWNER)
  const list = db.prepare(LIST)
  const revoke = db.prepare(REVOKE)
  const use = db.prepare(USE)
  function createApiKey(key: NewStoredApiKey): StoredApiKey {
    const { keyId, ownerNo, keyName, secretHash, expiresAt, createdAt } = key
    insert.run(keyId, ownerNo, keyName, secretHash, JSON.stringify(key.scopes), expiresAt, createdAt)
    return toApiKey(find.get(keyId) as Row)
  }
  return {
    createApiKey,
    createFirstKey(input: FirstKey): StoredApiKey | undefined {
      const { owner, key } = input
      insertFirstOwner.run(owner.ownerId, owner.ownerName, owner.createdAt)
      const first = firstOwner.get() as Row
      return first.has_key ? undefined : createApiKey({ ...key, ownerNo: first.owner_no as number })
    },
    allApiKeys(): StoredApiKey[] {
      return all.all().map(toApiKey)
    },
    listApiKeys(input: { ownerNo: number; slice: Slice<string> }): Sliced<StoredApiKey, string> {
      const { after, limit } = input.slice
      const rows = list.all(input.ownerNo, after ?? '', limit + 1)
      return sliced(rows.map(toApiKey), limit, (key) => key.keyId)
    },
    revokeApiKey(input: { ownerNo: number | undefined; keyId: string; at: number }): boolean {
      const { ownerNo = null, keyId, at } = input
      return revoke.run({ ownerNo, keyId, at }).changes > 0
    },
    recordKeyUse(uses: { keyId: string; at: number }[]): void {
      for (const { keyId, at } of uses) use.run(at, keyId)
    },
  }
}
