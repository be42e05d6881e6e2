// When each session was last used. Written at most once a minute: a write per request would make every read a write.

import type { StoredSession } from '../domain/access/ports/sessions.ts'
import type { SessionUseView } from '../domain/access/session.ts'
import type { Store } from '../domain/common/ports/store.ts'

export class SessionUse implements SessionUseView {
  readonly idleMs: number
  readonly #store: Pick<Store, 'recordSessionUse'>
  #uses = new Map<string, number>()
  /** Those being written. */
  #written = new Map<string, number>()

  constructor(store: Pick<Store, 'recordSessionUse'>, idleMs: number) {
    this.#store = store
    this.idleMs = idleMs
  }

  note(sessionId: string, at: number): void {
    this.#uses.set(sessionId, at)
  }

  lastUsedAt({ sessionId, lastUsedAt }: Pick<StoredSession, 'sessionId' | 'lastUsedAt'>): number {
    return Math.max(lastUsedAt, this.#uses.get(sessionId) ?? 0, this.#written.get(sessionId) ?? 0)
  }

  /** After a failed write, the uses are kept for the next one. */
  async record(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#written = uses
    this.#uses = new Map()
    try {
      await this.#store.recordSessionUse(Array.from(uses, ([sessionId, at]) => ({ sessionId, at })))
    } catch (error) {
      for (const [sessionId, at] of uses) if (!this.#uses.has(sessionId)) this.#uses.set(sessionId, at)
      throw error
    } finally {
      this.#written = new Map()
    }
  }
}
