// The audit log: who has changed what.

import { List, type Query } from './list.ts'
import { openChunks } from './open-chunks.ts'
import type { AuditCheckpoint, AuditEntry, ListAuditQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The service sends one seal after the other. */
const silenceMs = 120_000

export class Audit {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Newest first. */
  list(query: Query<ListAuditQuery> = {}, options: CallOptions = {}): List<AuditEntry> {
    return new List(this.#transport, '/job/api/audit', query, options)
  }

  /** All sealed entries with their seals, as lines of JSON, in chunks. */
  async *export({ signal }: CallOptions = {}): AsyncGenerator<Uint8Array> {
    const headers = { accept: 'application/x-ndjson, application/problem+json' }
    const call = { method: 'GET', path: '/job/api/audit/export', headers, signal } as const
    const { chunks } = await openChunks(this.#transport, call, silenceMs)
    yield* chunks
  }

  /** The last seal, and the key that verifies it. Keep it elsewhere. */
  checkpoint({ signal }: CallOptions = {}): Promise<AuditCheckpoint> {
    return this.#transport.value({ method: 'GET', path: '/job/api/audit/checkpoint', signal })
  }
}
