// When each session was last used. Written at most once a minute.

import type { StoredSession } from '../domain/access/ports/sessions.ts'
import type { SessionUseView } from '../domain/access/session.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { LastUses } from './last-uses.ts'

export class SessionUse implements SessionUseView {
  readonly idleMs: number
  readonly #uses: LastUses

  constructor(store: Pick<Store, 'recordSessionUse'>, idleMs: number) {
    this.#uses = new LastUses((uses) =>
      store.recordSessionUse(uses.map(({ id, at }) => ({ sessionId: id, at }))),
    )
    this.idleMs = idleMs
  }

  note(sessionId: string, at: number): void {
    this.#uses.note(sessionId, at)
  }

  lastUsedAt({ sessionId, lastUsedAt }: Pick<StoredSession, 'sessionId' | 'lastUsedAt'>): number {
    return this.#uses.latest(sessionId, lastUsedAt)
  }

  record(): Promise<void> {
    return this.#uses.record()
  }
}
