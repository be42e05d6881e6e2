// A key that creates something that acts later is locked until the commit, so that a concurrent revocation of the key waits and
// finds it.

import { inBoth, type Queries } from '../queries.ts'
import { rows } from '../schema/column.ts'
import { apiKey } from '../schema/tables.ts'

const MAKER = rows(apiKey.pick('revokedAt'))
const LOCK_MAKER = inBoth(({ is }) => {
  const lock = is === 'postgres' ? 'FOR NO KEY UPDATE' : ''
  return `SELECT revoked_at AS "revokedAt" FROM api_key WHERE key_id = :keyId ${lock}`
})

export async function isRevokedMaker(queries: Queries, keyId: string): Promise<boolean> {
  const maker = await queries.get(MAKER, LOCK_MAKER, { keyId })
  return maker !== undefined && maker.revokedAt !== null
}
