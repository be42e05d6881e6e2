import type { CountedQuota } from '../../domain/access/ports/quota-counts.ts'
import { inBoth, type Sql } from '../queries.ts'
import { number, rows } from '../schema/column.ts'
import { unfinishedOn } from './run-fields.ts'
import type { ReadSteps } from './step.ts'

const of = (table: string, where: string) => `SELECT count(*) AS count FROM ${table} WHERE ${where}`

const counts: Record<CountedQuota, Sql> = {
  executions: inBoth(
    ({ is }) => `
    SELECT coalesce(sum(pending + in_progress + canceling), 0) AS count
    FROM run WHERE owner_no = :who AND ${unfinishedOn[is]}`,
  ),
  devices: of('device', 'owner_no = :who AND deleted_at IS NULL'),
  jobs: of('job', 'owner_no = :who AND deleted_at IS NULL'),
  keys: of(
    'api_key',
    `owner_no = :who AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at) AND key_id NOT LIKE 'user:%'`,
  ),
  enrollments: of(
    'enrollment',
    'owner_no = :who AND revoked_at IS NULL AND used < max_uses AND expires_at > :at',
  ),
  'key-sessions': of('session', 'key_id = :who AND expires_at > :at'),
}
const COUNT = rows({ count: number() })

export const quotaCountReads: ReadSteps<'countUsed'> = {
  async countUsed(queries, { quota, who, at }) {
    const sql: Sql = counts[quota]
    const { count } = await queries.one(COUNT, sql, { who, at })
    return Number(count)
  },
}
