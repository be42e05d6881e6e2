// Jobs, which devices can run.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove, resourceCalls } from './resource-calls.ts'
import type { Job, JobVersion, ListJobVersionsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `ifVersion`: only if the job still has this version; otherwise J-312. */
type ChangeOptions = CallOptions & { ifVersion?: number | undefined }
/** `force`: even if schedules or waiting runs need it; otherwise J-315. */
type DeleteOptions = ChangeOptions & { force?: boolean | undefined }

export type Jobs = ReturnType<typeof jobCalls>

export function jobCalls(transport: Transport) {
  return {
    ...resourceCalls<'jobs', ChangeOptions>(transport, 'jobs', ifVersion),

    delete(jobName: string, options: DeleteOptions = {}): Promise<void> {
      return remove(transport, {
        path: path`/job/api/jobs/${jobName}`,
        query: options.force ? { force: true } : {},
        headers: ifVersion(options),
        signal: options.signal,
      })
    },

    /** Newest first. */
    versions(
      jobName: string,
      query: Query<ListJobVersionsQuery> = {},
      options: CallOptions = {},
    ): List<JobVersion> {
      return new List(transport, path`/job/api/jobs/${jobName}/versions`, query, options)
    },

    version(jobName: string, version: number, { signal }: CallOptions = {}): Promise<JobVersion> {
      const target = path`/job/api/jobs/${jobName}/versions/${version}`
      return transport.value({ method: 'GET', path: target, signal })
    },

    /** Creates a new version with the content of this one. */
    restore(jobName: string, version: number, options: ChangeOptions = {}): Promise<Job> {
      return transport.value({
        method: 'POST',
        path: path`/job/api/jobs/${jobName}/versions/${version}/restore`,
        headers: ifVersion(options),
        safe: true,
        signal: options.signal,
      })
    },
  }
}

function ifVersion({ ifVersion }: ChangeOptions): Record<string, string> {
  return ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }
}
