// What the versions of jobs say of clocks and retries. A version never changes.

import type { DatabaseSync } from 'node:sqlite'
import type { Policy } from '../../domain/execution.ts'
import type { StoredJobContent } from '../../domain/store.ts'
import { select } from '../schema/column.ts'
import { jobVersion } from '../schema/tables.ts'

const VERSION = select({ content: jobVersion.fields.content })
const CONTENT = `SELECT ${VERSION} FROM job_version WHERE version_no = ?`
const kept = 1000

export function preparePolicies(db: DatabaseSync) {
  const content = db.prepare(CONTENT)
  const policies = new Map<number, Policy>()

  function contentOf(jobVersion: number): StoredJobContent {
    const row = content.get(jobVersion)
    if (row === undefined) throw new Error(`there is no version ${jobVersion} of a job`)
    return VERSION.read(row).content
  }

  return {
    policyOf(jobVersion: number): Policy {
      const known = policies.get(jobVersion)
      if (known) return known
      // What was stored before a policy existed has none.
      const { expireAfterSeconds = null, timeoutSeconds = null, retry = null } = contentOf(jobVersion)
      const policy: Policy = { expireAfterSeconds, timeoutSeconds, retry }
      if (policies.size === kept) policies.clear()
      policies.set(jobVersion, policy)
      return policy
    },
  }
}
