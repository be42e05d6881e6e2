// API keys.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove } from './resource-calls.ts'
import type { ApiKey, CreatedApiKey, ListKeysQuery, NewApiKey, OwnKey, RevokedKeys } from './schemas.ts'
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

  /** The key that this client uses, and its person, if any. */
  self({ signal }: CallOptions = {}): Promise<OwnKey> {
    return this.#transport.value({ method: 'GET', path: '/job/api/keys/self', signal })
  }

  /** Keys that it has created remain valid; `descendants` revokes them too and counts what was revoked. */
  revoke(keyId: string, options: CallOptions & { descendants: true }): Promise<RevokedKeys>
  revoke(keyId: string, options?: CallOptions): Promise<void>
  revoke(
    keyId: string,
    { signal, descendants }: CallOptions & { descendants?: true } = {},
  ): Promise<unknown> {
    const target = path`/job/api/keys/${keyId}`
    if (!descendants) return remove(this.#transport, { path: target, signal })
    return this.#transport.value({ method: 'DELETE', path: target, query: { descendants: true }, signal })
  }
}
