// Enrollments: let devices fetch their first token themselves.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove } from './resource-calls.ts'
import type { CreatedEnrollment, Enrollment, ListEnrollmentsQuery, NewEnrollment } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Enrollments {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The token is shown only once. */
  create(content: NewEnrollment = {}, { signal }: CallOptions = {}): Promise<CreatedEnrollment> {
    return this.#transport.value({ method: 'POST', path: '/job/api/enrollments', body: content, signal })
  }

  list(query: Query<ListEnrollmentsQuery> = {}, options: CallOptions = {}): List<Enrollment> {
    return new List(this.#transport, '/job/api/enrollments', query, options)
  }

  revoke(enrollmentId: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/enrollments/${enrollmentId}`, signal })
  }
}
