// Jobs: what devices can run.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type Put, put, remove } from './put.ts'
import type { Job, JobContent, ListJobsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Jobs {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the job: omitted fields are reset to their defaults. */
  put(jobName: string, content: JobContent = {}, { signal }: CallOptions = {}): Promise<Put<Job>> {
    return put(this.#transport, { path: path`/job/api/jobs/${jobName}`, body: content, signal })
  }

  get(jobName: string, { signal }: CallOptions = {}): Promise<Job> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/jobs/${jobName}`, signal })
  }

  list(query: Query<ListJobsQuery> = {}, options: CallOptions = {}): List<Job> {
    return new List(this.#transport, '/job/api/jobs', query, options)
  }

  /** Existing executions continue. */
  delete(jobName: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/jobs/${jobName}`, signal })
  }
}
