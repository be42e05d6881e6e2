// Owners: the tenants.

import { List, type Query } from './list.ts'
import type { ListOwnersQuery, NewOwner, Owner } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Owners {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  create(content: NewOwner, { signal }: CallOptions = {}): Promise<Owner> {
    return this.#transport.value({ method: 'POST', path: '/job/api/owners', body: content, signal })
  }

  list(query: Query<ListOwnersQuery> = {}, options: CallOptions = {}): List<Owner> {
    return new List(this.#transport, '/job/api/owners', query, options)
  }
}
