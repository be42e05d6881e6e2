// Jobs: what devices can run.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type Put, put, remove } from './put.ts'
import type { Job, JobContent, JobVersion, ListJobsQuery, ListJobVersionsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `ifVersion`: only if the job still has this version, else J-312. */
type ChangeOptions = CallOptions & { ifVersion?: number | undefined }

export class Jobs {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the job: omitted fields are reset to their defaults. */
  put(jobName: string, content: JobContent = {}, options: ChangeOptions = {}): Promise<Put<Job>> {
    const { signal } = options
    const headers = ifVersion(options)
    return put(this.#transport, { path: path`/job/api/jobs/${jobName}`, body: content, headers, signal })
  }

  get(jobName: string, { signal }: CallOptions = {}): Promise<Job> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/jobs/${jobName}`, signal })
  }

  list(query: Query<ListJobsQuery> = {}, options: CallOptions = {}): List<Job> {
    return new List(this.#transport, '/job/api/jobs', query, options)
  }

  /** Existing executions continue. */
  delete(jobName: string, options: ChangeOptions = {}): Promise<void> {
    const { signal } = options
    return remove(this.#transport, {
      path: path`/job/api/jobs/${jobName}`,
      headers: ifVersion(options),
      signal,
    })
  }

  /** Newest first. */
  versions(
    jobName: string,
    query: Query<ListJobVersionsQuery> = {},
    options: CallOptions = {},
  ): List<JobVersion> {
    return new List(this.#transport, path`/job/api/jobs/${jobName}/versions`, query, options)
  }

  version(jobName: string, version: number, { signal }: CallOptions = {}): Promise<JobVersion> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/jobs/${jobName}/versions/${version}`,
      signal,
    })
  }

  /** Creates a new version with the content of this one. */
  restore(jobName: string, version: number, options: ChangeOptions = {}): Promise<Job> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/jobs/${jobName}/versions/${version}/restore`,
      headers: ifVersion(options),
      safe: true,
      signal: options.signal,
    })
  }
}

function ifVersion({ ifVersion }: ChangeOptions): Record<string, string> {
  return ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }
}
