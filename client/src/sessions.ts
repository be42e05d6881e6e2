// Sessions of the console, for callers that manage keys.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove } from './resource-calls.ts'
import type { ListSessionsQuery, Session } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Sessions {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists valid sessions. */
  list(query: Query<ListSessionsQuery> = {}, options: CallOptions = {}): List<Session> {
    return new List(this.#transport, '/job/api/sessions', query, options)
  }

  /** Also ends all sessions and tickets that were created from it. */
  end(sessionId: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/sessions/${sessionId}`, signal })
  }
}
