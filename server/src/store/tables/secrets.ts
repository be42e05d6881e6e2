// Secrets: the current value of each name and, for some time, previous ones.

import { isExpected } from '../../domain/common/entity-tag.ts'
import type { SecretUsers, StoredSecret } from '../../domain/secret/ports/secrets.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { secret } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { purgeFormer } from './secret-users.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { readUsers } from './version-users.ts'

const SECRET = select(secret.pick('secretName', 'updatedAt', 'updatedBy'))
const SELECT = `SELECT ${SECRET} FROM secret WHERE owner_no = :ownerNo AND replaced_at IS NULL` as const
const FIND = `${SELECT} AND secret_name = :secretName` as const
const LIST = `${SELECT} AND secret_name > :after ORDER BY secret_name LIMIT :limit` as const
const COUNT = 'SELECT count(*) AS count FROM secret WHERE owner_no = :ownerNo AND replaced_at IS NULL'
const VALUE = select(secret.pick('secretName', 'sealed'))
const VALUES = inBoth(
  ({ isIn }) => `
  SELECT ${VALUE} FROM secret
  WHERE owner_no = :ownerNo AND ${isIn('secret_name', 'secretNames', 'text')} AND replaced_at IS NULL`,
)
// Current values first, then the newest.
const ALL_VALUES = inBoth(
  ({ isIn }) => `
  SELECT ${VALUE} FROM secret
  WHERE owner_no = :ownerNo AND ${isIn('secret_name', 'secretNames', 'text')}
  ORDER BY CASE WHEN replaced_at IS NULL THEN 0 ELSE 1 END, version DESC, secret_name`,
)
const REPLACE = `
  UPDATE secret SET replaced_at = :at
  WHERE owner_no = :ownerNo AND secret_name = :secretName AND replaced_at IS NULL`
const INSERT = `
  INSERT INTO secret (owner_no, secret_name, version, sealed, updated_at, updated_by)
  VALUES (:ownerNo, :secretName,
    (SELECT coalesce(max(version), 0) + 1 FROM secret WHERE owner_no = :ownerNo AND secret_name = :secretName),
    :sealed, :at, :principal)`
const DELETE = 'DELETE FROM secret WHERE owner_no = :ownerNo AND secret_name = :secretName'
const DELETE_OLDEST = `
  DELETE FROM secret WHERE owner_no = :ownerNo AND secret_name = :secretName AND version < (
    SELECT max(version) - :mostFormer FROM secret WHERE owner_no = :ownerNo AND secret_name = :secretName)`
const SEALED = select(secret.pick('ownerNo', 'secretName', 'version', 'sealed'))
const LIST_SEALED = `
  SELECT ${SEALED} FROM secret WHERE (owner_no, secret_name, version) > (:ownerNo, :secretName, :version)
  ORDER BY owner_no, secret_name, version LIMIT :limit` as const
const REPLACE_SEALED = `
  UPDATE secret SET sealed = :sealed
  WHERE owner_no = :ownerNo AND secret_name = :secretName AND version = :version AND sealed = :before`

export const secretReads: ReadSteps<'findSecrets' | 'findAllValues' | 'listSealedSecrets'> = {
  findSecrets: (queries, wanted) => queries.all(VALUE, VALUES, partOf(VALUES, wanted)),
  findAllValues: (queries, wanted) => queries.all(VALUE, ALL_VALUES, partOf(ALL_VALUES, wanted)),
  listSealedSecrets: (queries, page) => queries.all(SEALED, LIST_SEALED, partOf(LIST_SEALED, page)),
}

export const secretSnapshots: ReadSteps<'getSecret' | 'listSecrets'> = {
  getSecret,
  async listSecrets(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(SECRET, LIST, { ownerNo, after, limit: limit + 1 })
    const { items, next } = sliced(found, limit, ({ secretName }) => secretName)
    return { items: await withUsers(queries, ownerNo, items), next }
  },
}

/** On PostgreSQL serialized per owner, also with the creation of runs. */
export const secretNameWrites: WriteSteps<'putSecret' | 'deleteSecret'> = {
  async putSecret(queries, { ownerNo, secretName, sealed, principal, at, most, mostFormer, expected }) {
    const before = await queries.get(SECRET, FIND, { ownerNo, secretName })
    if (!isExpected(expected, before?.secretName)) return { kind: 'not-expected' }
    const isNew = before === undefined
    if (isNew) {
      const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
      if (count >= most) return { kind: 'too-many' }
    }
    await queries.run(REPLACE, { ownerNo, secretName, at })
    await queries.run(INSERT, { ownerNo, secretName, sealed, at, principal })
    await queries.run(DELETE_OLDEST, { ownerNo, secretName, mostFormer })
    const data = { secretName, isNew, principal }
    const after = { secretName, updatedAt: at, updatedBy: principal }
    queries.resourceChanged('secret.changed', { ownerNo, at, data, before, after })
    const value = await getSecret(queries, { ownerNo, secretName })
    if (value === undefined) throw new Error('a secret that was stored is missing')
    return { kind: 'put', created: isNew, value }
  },
  async deleteSecret(queries, { ownerNo, secretName, principal, at }) {
    const found = await getSecret(queries, { ownerNo, secretName })
    if (found === undefined) return { kind: 'unknown-secret' }
    const { jobNames, scheduleNames, runIds } = found.usedBy
    if (jobNames.length + scheduleNames.length + runIds.length > 0) return { kind: 'in-use', ...found.usedBy }
    await queries.run(DELETE, { ownerNo, secretName })
    const data = { secretName, principal }
    queries.resourceChanged('secret.deleted', {
      ownerNo,
      at,
      data,
      before: { secretName, updatedAt: found.updatedAt },
    })
    return { kind: 'deleted' }
  },
}

export const secretWrites: WriteSteps<'purgeFormerValues' | 'replaceSealedSecrets'> = {
  purgeFormerValues: purgeFormer,
  async replaceSealedSecrets(queries, { sealed }) {
    for (const each of sealed) await queries.run(REPLACE_SEALED, partOf(REPLACE_SEALED, each))
  },
}

/** The first one that does not exist. */
export async function missingSecret(
  queries: Queries,
  ownerNo: number,
  secretNames: readonly string[] = [],
): Promise<string | undefined> {
  if (secretNames.length === 0) return undefined
  const found = await queries.all(VALUE, VALUES, { ownerNo, secretNames: [...secretNames] })
  return secretNames.find((name) => !found.some(({ secretName }) => secretName === name))
}

async function getSecret(
  queries: Queries,
  { ownerNo, secretName }: { ownerNo: number; secretName: string },
): Promise<StoredSecret | undefined> {
  const found = await queries.get(SECRET, FIND, { ownerNo, secretName })
  return found && (await withUsers(queries, ownerNo, [found]))[0]
}

async function withUsers(
  queries: Queries,
  ownerNo: number,
  secrets: Omit<StoredSecret, 'usedBy'>[],
): Promise<StoredSecret[]> {
  const secretNames = secrets.map(({ secretName }) => secretName)
  const usersOf: (secretName: string) => SecretUsers = await readUsers(
    queries,
    'secrets',
    ownerNo,
    secretNames,
  )
  return secrets.map((each) => ({ ...each, usedBy: usersOf(each.secretName) }))
}
