import type { NewStoredApiKey, StoredApiKey } from '../../domain/store.ts'
import { locks } from '../postgres/locks.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { flag, rows, select } from '../schema/column.ts'
import { apiKey, owner } from '../schema/tables.ts'
import type { Input, ReadSteps, WriteSteps } from './step.ts'

export const API_KEY = select({ ...apiKey.fields, ownerId: owner.fields.ownerId })
/** Those of all owners. */
export const SELECT_API_KEYS = `SELECT ${API_KEY} FROM api_key JOIN owner USING (owner_no)`
const FIND = `${SELECT_API_KEYS} WHERE key_id = :keyId`
const FIND_ALL = inBoth(({ isIn }) => `${SELECT_API_KEYS} WHERE ${isIn('key_id', 'keyIds', 'text')}`)
const LIST = `${SELECT_API_KEYS} WHERE api_key.owner_no = :ownerNo AND key_id > :after ORDER BY key_id LIMIT :limit`
const INSERT = `
  INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, expires_at, created_at)
  VALUES (:keyId, :ownerNo, :keyName, :secretHash, :scopes, :expiresAt, :createdAt)`
// Of several nodes that start at once one makes the first key.
const LOCK_FIRST = inBoth(({ is }) =>
  is === 'postgres' ? `SELECT pg_advisory_xact_lock(${locks.firstKey}, 0)` : '',
)
const INSERT_FIRST_OWNER = `
  INSERT INTO owner (owner_id, owner_name, created_at)
  SELECT :ownerId, :ownerName, :createdAt WHERE NOT EXISTS (SELECT 1 FROM owner)`
const FIRST_OWNER = `
  SELECT owner_no AS "ownerNo",
    EXISTS (SELECT 1 FROM api_key WHERE api_key.owner_no = owner.owner_no) AS "hasKey"
  FROM owner ORDER BY owner_no LIMIT 1`
const FIRST = rows({ ownerNo: owner.fields.ownerNo, hasKey: flag() })
// A second revocation keeps the instant of the first.
const REVOKE = `
  UPDATE api_key SET revoked_at = coalesce(revoked_at, :at)
  WHERE key_id = :keyId AND owner_no = coalesce(:ownerNo, owner_no)`
const USE = 'UPDATE api_key SET last_used_at = :at WHERE key_id = :keyId'

export const apiKeyReads: ReadSteps<'listApiKeys'> = {
  async listApiKeys(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(API_KEY, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ keyId }) => keyId)
  },
}

export const apiKeyWrites: WriteSteps<'createFirstKey' | 'createApiKey' | 'revokeApiKey' | 'recordKeyUse'> = {
  createFirstKey: async (queries, first) => (await createFirstKey(queries, first)) !== undefined,
  createApiKey,
  async revokeApiKey(queries, { ownerNo = null, keyId, at }) {
    return (await queries.run(REVOKE, { ownerNo, keyId, at })) > 0
  },
  async recordKeyUse(queries, uses) {
    // The last use of a key counts, and keys in one order: two nodes must not wait for each other.
    const lastUse = new Map(uses.map(({ keyId, at }) => [keyId, at]))
    const sorted = [...lastUse].sort(([one], [other]) => (one < other ? -1 : 1))
    await Promise.all(sorted.map(([keyId, at]) => queries.run(USE, { keyId, at })))
  },
}

export function findApiKeys(queries: Queries, keyIds: string[]): Promise<StoredApiKey[]> {
  return queries.all(API_KEY, FIND_ALL, { keyIds })
}

/** Undefined when the first owner has one. */
export async function createFirstKey(
  queries: Queries,
  { owner, key }: Input<'createFirstKey'>,
): Promise<StoredApiKey | undefined> {
  await queries.run(LOCK_FIRST)
  await queries.run(INSERT_FIRST_OWNER, owner)
  const first = await queries.get(FIRST, FIRST_OWNER)
  if (first === undefined || first.hasKey) return undefined
  return createApiKey(queries, { ...key, ownerNo: first.ownerNo })
}

async function createApiKey(queries: Queries, key: NewStoredApiKey): Promise<StoredApiKey> {
  await queries.run(INSERT, { ...key, scopes: JSON.stringify(key.scopes) })
  return queries.one(API_KEY, FIND, key)
}
