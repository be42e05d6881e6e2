// Previous values of secrets that are still needed: those that an unfinished execution may have got.

import { inBoth, type Writes } from '../queries.ts'
import { number, rows, text } from '../schema/column.ts'
import { unfinishedOn } from './run-fields.ts'
import { versionsUsing } from './version-users.ts'

const purgedAtOnce = 500

const FORMER = rows({ ownerNo: number(), secretName: text(), version: number() })
// A value that was replaced before the oldest unfinished run with this secret was created was not sent to any of its devices.
const LIST_FORMER = inBoth(
  (spelling) => `
  SELECT owner_no AS "ownerNo", secret_name AS "secretName", version FROM secret
  WHERE replaced_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM run ${spelling.by('run_unfinished')}
      ${versionsUsing('secrets', spelling, 'job_version.version_no = run.version_no')}
    WHERE run.owner_no = secret.owner_no AND ${unfinishedOn[spelling.is]}
      AND used.value = secret.secret_name AND run.launched_at <= secret.replaced_at)
  LIMIT ${purgedAtOnce}`,
)
const PURGE = `
  DELETE FROM secret
  WHERE owner_no = :ownerNo AND secret_name = :secretName AND version = :version AND replaced_at IS NOT NULL`

/** Purges previous values that no unfinished execution can have got. */
export async function purgeFormer(queries: Writes): Promise<boolean> {
  const found = await queries.all(FORMER, LIST_FORMER)
  for (const former of found) await queries.run(PURGE, former)
  return found.length === purgedAtOnce
}
