// What the versions of jobs say of clocks and retries. A version never changes, so it can be remembered on every node.

import type { Policy } from '../../domain/execution.ts'
import type { StoredJobContent } from '../../domain/store.ts'
import { select } from '../schema/column.ts'
import { jobVersion } from '../schema/tables.ts'
import type { Queries } from './rows.ts'

const { versionNo, content } = jobVersion.fields
const VERSION = select({ versionNo, content })
const CONTENTS = `
  SELECT ${VERSION} FROM unnest($1::int[]) AS wanted (version_no) JOIN job_version USING (version_no)`
const kept = 1000

export type JobPolicy = Policy & { deadlineSeconds: number | null }

export class Policies {
  readonly #known = new Map<number, JobPolicy>()

  /** Those of all these versions. */
  async read(queries: Queries, jobVersions: Iterable<number>): Promise<(jobVersion: number) => JobPolicy> {
    const wanted = new Set(jobVersions)
    const found = new Map<number, JobPolicy>()
    const unknown: number[] = []
    for (const jobVersion of wanted) {
      const policy = this.#known.get(jobVersion)
      if (policy) found.set(jobVersion, policy)
      else unknown.push(jobVersion)
    }
    if (unknown.length > 0) {
      for (const row of await queries.query(CONTENTS, [unknown])) {
        const { versionNo, content } = VERSION.read(row)
        found.set(versionNo, this.#remember(versionNo, content))
      }
    }
    return (jobVersion) => {
      const policy = found.get(jobVersion)
      if (policy === undefined) throw new Error(`there is no version ${jobVersion} of a job`)
      return policy
    }
  }

  #remember(jobVersion: number, content: StoredJobContent): JobPolicy {
    const { expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry } = content
    const policy: JobPolicy = { expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry }
    if (this.#known.size === kept) this.#known.clear()
    this.#known.set(jobVersion, policy)
    return policy
  }
}
