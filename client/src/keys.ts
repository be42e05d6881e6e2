// API keys.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove } from './put.ts'
import type { ApiKey, CreatedApiKey, ListKeysQuery, NewApiKey } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Keys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The key itself is shown only once. */
  create(content: NewApiKey, { signal }: CallOptions = {}): Promise<CreatedApiKey> {
    return this.#transport.value({ method: 'POST', path: '/job/api/keys', body: content, signal })
  }

  list(query: Query<ListKeysQuery> = {}, options: CallOptions = {}): List<ApiKey> {
    return new List(this.#transport, '/job/api/keys', query, options)
  }

  /** The key that this client uses. */
  self({ signal }: CallOptions = {}): Promise<ApiKey> {
    return this.#transport.value({ method: 'GET', path: '/job/api/keys/self', signal })
  }

  revoke(keyId: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/keys/${keyId}`, signal })
  }
}
