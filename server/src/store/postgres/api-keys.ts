import type { NewStoredApiKey, Store } from '../../domain/store.ts'
import { toApiKey } from '../from-rows.ts'
import type { Database } from './database.ts'
import { GroupedLook } from './grouped-look.ts'
import { locks } from './locks.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT key_id, api_key.owner_no, owner_id, key_name, secret_hash, scopes, expires_at, revoked_at, last_used_at,
    api_key.created_at
  FROM api_key JOIN owner USING (owner_no)`
const INSERT = `
  INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, expires_at, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`
const LOCK_FIRST = `SELECT pg_advisory_xact_lock(${locks.firstKey}, 0)`
const INSERT_FIRST_OWNER = `
  INSERT INTO owner (owner_id, owner_name, created_at) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM owner)`
const FIRST_OWNER = `
  SELECT owner_no, EXISTS (SELECT FROM api_key WHERE api_key.owner_no = owner.owner_no) AS has_key
  FROM owner ORDER BY owner_no LIMIT 1`
const FIND = `${SELECT} WHERE key_id = $1`
const FIND_ALL = `${SELECT} WHERE key_id = ANY ($1::text[])`
const LIST = `${SELECT} WHERE api_key.owner_no = $1 AND key_id > $2 ORDER BY key_id LIMIT $3`
// A second revocation keeps the instant of the first.
const REVOKE = `
  UPDATE api_key SET revoked_at = coalesce(revoked_at, $3::bigint)
  WHERE key_id = $1 AND owner_no = coalesce($2::int, owner_no) RETURNING key_id`
const USE = `
  UPDATE api_key SET last_used_at = used.at
  FROM unnest($1::text[], $2::bigint[]) AS used (key_id, at) WHERE api_key.key_id = used.key_id`

type ApiKeySteps = Pick<
  Store,
  'createFirstKey' | 'createApiKey' | 'findApiKey' | 'listApiKeys' | 'revokeApiKey' | 'recordKeyUse'
>

export function buildApiKeySteps(db: Database): ApiKeySteps {
  const keys = new GroupedLook(async (keyIds) => {
    const rows = await db.query(FIND_ALL, [keyIds])
    return new Map(rows.map((row) => [row.key_id as string, toApiKey(row)]))
  })
  return {
    createFirstKey({ owner, key }) {
      return db.inTransaction(async (transaction) => {
        await transaction.query(LOCK_FIRST)
        await transaction.query(INSERT_FIRST_OWNER, [owner.ownerId, owner.ownerName, owner.createdAt])
        const [first] = await transaction.query(FIRST_OWNER)
        if (first?.has_key) return false
        await transaction.query(INSERT, valuesOf({ ...key, ownerNo: first?.owner_no as number }))
        return true
      })
    },
    createApiKey(key) {
      return db.inTransaction(async (transaction) => {
        const [, rows] = await Promise.all([
          transaction.query(INSERT, valuesOf(key)),
          transaction.query(FIND, [key.keyId]),
        ])
        return toApiKey(rows[0] as Row)
      })
    },
    findApiKey: ({ keyId }) => keys.find(keyId),
    async listApiKeys({ ownerNo, slice: { after, limit } }) {
      const rows = await db.query(LIST, [ownerNo, after ?? '', limit + 1])
      return sliced(rows.map(toApiKey), limit, (key) => key.keyId)
    },
    revokeApiKey({ ownerNo, keyId, at }) {
      return db.inTransaction(async (transaction) => {
        const rows = await transaction.query(REVOKE, [keyId, ownerNo ?? null, at])
        return rows.length > 0
      })
    },
    async recordKeyUse(uses) {
      // The last use of a key counts, and keys in one order: two nodes must not wait for each other.
      const lastUse = new Map(uses.map(({ keyId, at }) => [keyId, at]))
      const keyIds = [...lastUse.keys()].sort()
      const instants = keyIds.map((keyId) => lastUse.get(keyId))
      await db.inTransaction((transaction) => transaction.query(USE, [keyIds, instants]))
    },
  }
}

function valuesOf(key: NewStoredApiKey): unknown[] {
  const { keyId, ownerNo, keyName, secretHash, scopes, expiresAt, createdAt } = key
  return [keyId, ownerNo, keyName, secretHash, JSON.stringify(scopes), expiresAt, createdAt]
}
