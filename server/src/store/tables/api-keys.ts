import type { EventTypeOf } from '@jobcast/contract'
import { toInstant } from '@jobcast/contract/words'
import type { LeftBehind, NewStoredApiKey, StoredApiKey } from '../../domain/access/ports/api-keys.ts'
import { keyIdOf, principalOf } from '../../domain/access/principal.ts'
import { keyRevoked } from '../../domain/schedule/schedule-events.ts'
import { locks } from '../postgres/locks.ts'
import { inBoth, type Queries, type Spelling, sliced, type Writes } from '../queries.ts'
import { flag, number, rows, select } from '../schema/column.ts'
import { apiKey, owner } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { revokeEnrollmentsOf } from './enrollments.ts'
import { pauseRunsBy } from './rollouts.ts'
import { pauseSchedulesBy } from './schedules.ts'
import type { Input, ReadSteps, WriteSteps } from './step.ts'

export const API_KEY = select({ ...apiKey.fields, ownerId: owner.fields.ownerId })
/** The keys of all owners. */
export const SELECT_API_KEYS = `SELECT ${API_KEY} FROM api_key JOIN owner USING (owner_no)` as const
/** Excludes the keys of people, which have no secret. */
const ISSUED = `key_id NOT LIKE 'user:%'`
const FIND = `${SELECT_API_KEYS} WHERE key_id = :keyId` as const
const LIST =
  `${SELECT_API_KEYS} WHERE api_key.owner_no = :ownerNo AND key_id > :after AND ${ISSUED} ORDER BY key_id LIMIT :limit` as const
const INSERT = `
  INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, restriction, expires_at, created_at,
    created_by, created_by_session)
  VALUES (:keyId, :ownerNo, :keyName, :secretHash, :scopes, :restriction, :expiresAt, :createdAt, :createdBy,
    :createdBySession)`
const PUT = `${INSERT}
  ON CONFLICT (key_id) DO UPDATE
  SET key_name = excluded.key_name, scopes = excluded.scopes, restriction = excluded.restriction,
    expires_at = excluded.expires_at
  WHERE NOT EXISTS (
    SELECT 1 FROM session WHERE session.key_id = :keyId AND session.checked_at > :unlessCheckedAfter)` as const
// Prevents several nodes that start at once from creating the first key.
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
// Serializes revocations: if two ADMIN keys revoke each other, one remains.
const LOCK_REVOCATION = inBoth(({ is }) =>
  is === 'postgres' ? `SELECT pg_advisory_xact_lock(${locks.revocation}, 0)` : '',
)
const locked = <Where extends string>(where: (spelling: Spelling) => Where) =>
  inBoth((spelling) => {
    // Keys are always locked in the same order, to prevent deadlocks.
    const lock = spelling.is === 'postgres' ? 'ORDER BY key_id FOR NO KEY UPDATE OF api_key' : ''
    return `${SELECT_API_KEYS} WHERE ${where(spelling)} ${lock}` as const
  })
const IN_REACH = 'api_key.owner_no = coalesce(CAST(:ownerNo AS int), api_key.owner_no)'
const LOCK_KEY = locked(() => `key_id = :keyId AND ${IN_REACH}` as const)
const LOCK_MAKER = locked(() => 'key_id = :keyId')
const LOCK_CHILDREN = locked(({ isIn }) => `${isIn('created_by', 'makers', 'text')} AND ${IN_REACH}` as const)
// The statement contains the condition of the index api_key_admin, which differs between the dialects.
const OTHER_ADMINS = inBoth(
  ({ is, by, isIn }) => `
  SELECT count(*) AS count FROM api_key ${by('api_key_admin')}
  WHERE ${is === 'sqlite' ? `instr(scopes, '"ADMIN"') > 0` : `scopes LIKE '%"ADMIN"%'`} AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > :at) AND NOT ${isIn('key_id', 'keyIds', 'text')}
    AND ${ISSUED}`,
)
const REVOKE = inBoth(
  ({ isIn }) => `UPDATE api_key SET revoked_at = :at WHERE ${isIn('key_id', 'keyIds', 'text')}`,
)
const USE = 'UPDATE api_key SET last_used_at = :at WHERE key_id = :keyId'

export const apiKeyReads: ReadSteps<'listApiKeys'> = {
  async listApiKeys(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(API_KEY, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ keyId }) => keyId)
  },
}

export const apiKeyWrites: WriteSteps<
  'createFirstKey' | 'createApiKey' | 'putPersonKey' | 'revokeApiKey' | 'recordKeyUse'
> = {
  createFirstKey: async (queries, first) => (await createFirstKey(queries, first)) !== undefined,
  createApiKey,
  async putPersonKey(queries, key) {
    const { unlessCheckedAfter } = key
    await queries.run(PUT, { ...partOf(INSERT, asWritten(key)), unlessCheckedAfter })
    return queries.one(API_KEY, FIND, { keyId: key.keyId })
  },
  async revokeApiKey(queries, revocation) {
    const { ownerNo = null, keyId, withDescendants, principal, at } = revocation
    await queries.run(LOCK_REVOCATION)
    const keys = await queries.all(API_KEY, LOCK_KEY, { ownerNo, keyId })
    if (keys.length === 0) return { kind: 'unknown' }
    if (withDescendants) keys.push(...(await lockDescendants(queries, keys, ownerNo)))
    const revoked = keys.filter(({ revokedAt }) => revokedAt === null)
    const keyIds = revoked.map((key) => key.keyId)
    const isAdmin = revoked.some((key) => key.scopes.includes('ADMIN') && (key.expiresAt ?? at + 1) > at)
    if (isAdmin) {
      const { count } = await queries.one(rows({ count: number() }), OTHER_ADMINS, { keyIds, at })
      if (count === 0) return { kind: 'last-admin' }
    }
    await queries.run(REVOKE, { keyIds, at })
    for (const key of revoked) recordEvent(queries, 'key.revoked', key, { principal, at })
    const nothing = { enrollmentIds: [], pausedSchedules: [], pausedRuns: [] }
    return {
      kind: 'revoked',
      keyIds,
      ...(withDescendants ? await endLeft(queries, keys, revocation) : nothing),
    }
  },
  async recordKeyUse(queries, uses) {
    // Only the last use of each key is stored. Keys are updated in the same order, to prevent deadlocks between nodes.
    const lastUse = new Map(uses.map(({ keyId, at }) => [keyId, at]))
    const sorted = [...lastUse].sort(([one], [other]) => (one < other ? -1 : 1))
    await Promise.all(sorted.map(([keyId, at]) => queries.run(USE, { keyId, at })))
  },
}

/** Pauses schedules and runs of these keys, including keys that were revoked before. */
async function endLeft(
  queries: Writes,
  keys: StoredApiKey[],
  { keyId, principal, at }: Input<'revokeApiKey'>,
): Promise<LeftBehind & { enrollmentIds: string[] }> {
  const name = keys.find((key) => key.keyId === keyId)?.keyName ?? keyId
  const left = { keyIds: keys.map((key) => key.keyId), because: keyRevoked(name), principal, at }
  const ownerIds = new Map(keys.map((key) => [key.ownerNo, key.ownerId]))
  const named = <Of extends { ownerNo: number }>({ ownerNo, ...of }: Of) => ({
    ...{ ownerId: ownerIds.get(ownerNo) ?? '', ...of },
  })
  return {
    enrollmentIds: await revokeEnrollmentsOf(queries, { makers: keys.map(principalOf), principal, at }),
    pausedSchedules: (await pauseSchedulesBy(queries, left)).map(named),
    pausedRuns: (await pauseRunsBy(queries, left)).map(named),
  }
}

/** Undefined if the first owner has a key. */
export async function createFirstKey(
  queries: Queries,
  { owner, key }: Input<'createFirstKey'>,
): Promise<StoredApiKey | undefined> {
  await queries.run(LOCK_FIRST)
  await queries.run(INSERT_FIRST_OWNER, partOf(INSERT_FIRST_OWNER, owner))
  const first = await queries.get(FIRST, FIRST_OWNER)
  if (first === undefined || first.hasKey) return undefined
  // No event is needed, because there cannot be a listener yet.
  return insertKey(queries, { ...key, ownerNo: first.ownerNo })
}

async function createApiKey(queries: Writes, key: NewStoredApiKey): Promise<StoredApiKey | undefined> {
  const { createdBy, createdAt: at } = key
  const makerId = keyIdOf(createdBy)
  if (makerId !== undefined) {
    // The creator is locked until the commit, so that a concurrent revocation of its descendants waits and finds this key.
    const maker = await queries.get(API_KEY, LOCK_MAKER, { keyId: makerId })
    if (maker?.revokedAt !== null) return undefined
  }
  const stored = await insertKey(queries, key)
  recordEvent(queries, 'key.created', key, { principal: createdBy ?? '', at })
  return stored
}

function asWritten(key: NewStoredApiKey) {
  const { scopes, restriction = null } = key
  return {
    ...key,
    scopes: JSON.stringify(scopes),
    restriction: restriction && JSON.stringify(restriction),
  }
}

async function insertKey(queries: Queries, key: NewStoredApiKey): Promise<StoredApiKey> {
  await queries.run(INSERT, partOf(INSERT, asWritten(key)))
  return queries.one(API_KEY, FIND, { keyId: key.keyId })
}

/** All descendants of these keys, generation by generation, because each is locked. */
async function lockDescendants(
  queries: Queries,
  keys: StoredApiKey[],
  ownerNo: number | null,
): Promise<StoredApiKey[]> {
  const found: StoredApiKey[] = []
  for (let parents = keys; parents.length > 0; ) {
    const makers = parents.map(principalOf)
    parents = await queries.all(API_KEY, LOCK_CHILDREN, { makers, ownerNo })
    found.push(...parents)
  }
  return found
}

function recordEvent(
  queries: Writes,
  type: EventTypeOf<'key'>,
  { ownerNo, keyId, keyName, scopes, restriction, expiresAt }: NewStoredApiKey,
  { principal, at }: { principal: string; at: number },
): void {
  const until = expiresAt === null ? null : toInstant(expiresAt)
  queries.resourceChanged(type, {
    ownerNo,
    at,
    data: { keyId, keyName, scopes, expiresAt: until, principal },
    [type === 'key.created' ? 'after' : 'before']: {
      ...{ keyName, scopes, expiresAt: until },
      ...restriction,
    },
  })
}
