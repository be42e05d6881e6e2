import type { JobPolicy } from '../domain/job/ports/jobs.ts'
import { inBoth, type Queries } from './queries.ts'
import { select } from './schema/column.ts'
import { jobVersion } from './schema/tables.ts'

const VERSION = select(jobVersion.pick('versionNo', 'content'))
const CONTENTS = inBoth(
  ({ isIn }) => `SELECT ${VERSION} FROM job_version WHERE ${isIn('version_no', 'versions', 'integer')}`,
)
const kept = 1000

export class Policies {
  readonly #kept = new Map<number, JobPolicy>()

  clear(): void {
    this.#kept.clear()
  }

  /** Reads the policies of these versions. */
  async read(queries: Queries, versions: Iterable<number>): Promise<(jobVersion: number) => JobPolicy> {
    const found = new Map([...new Set(versions)].map((version) => [version, this.#kept.get(version)]))
    const unknown = [...found.keys()].filter((version) => found.get(version) === undefined)
    if (unknown.length > 0) {
      for (const { versionNo, content } of await queries.all(VERSION, CONTENTS, { versions: unknown })) {
        // Versions that were stored before a policy existed do not have it.
        const {
          expireAfterSeconds = null,
          timeoutSeconds = null,
          deadlineSeconds = null,
          retry = null,
          rollout,
          approval,
          window,
          priority,
          parameters,
          hasPlaceholders,
          secrets,
        } = content
        const policy = {
          ...{ expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry },
          ...{ ...(rollout && { rollout }), ...(approval && { approval }), ...(window && { window }) },
          ...(priority !== undefined && { priority }),
          ...{ ...(parameters && { parameters }), ...(hasPlaceholders && { hasPlaceholders }) },
          // Runs may have secret values that their version does not declare.
          ...((parameters || secrets) && { mayHaveSecrets: true as const }),
        }
        found.set(versionNo, policy)
        if (this.#kept.size === kept) this.#kept.clear()
        this.#kept.set(versionNo, policy)
      }
    }
    return (version) => {
      const policy = found.get(version)
      if (policy === undefined) throw new Error(`there is no version ${version} of a job`)
      return policy
    }
  }
}
