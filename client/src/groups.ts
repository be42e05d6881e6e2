// Groups: named selectors.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type Put, put, remove } from './put.ts'
import type { Group, GroupContent, ListGroupsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Groups {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the group. */
  put(groupName: string, content: GroupContent, { signal }: CallOptions = {}): Promise<Put<Group>> {
    return put(this.#transport, { path: path`/job/api/groups/${groupName}`, body: content, signal })
  }

  get(groupName: string, { signal }: CallOptions = {}): Promise<Group> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/groups/${groupName}`, signal })
  }

  list(query: Query<ListGroupsQuery> = {}, options: CallOptions = {}): List<Group> {
    return new List(this.#transport, '/job/api/groups', query, options)
  }

  /** Selectors that refer to it are refused from then on. */
  delete(groupName: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/groups/${groupName}`, signal })
  }
}
