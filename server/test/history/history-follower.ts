// A follower of events that resumes after each cut, at any node, and now and then leaves by itself.

import type { JobcastEvent } from '@jobcast/contract'
import { EventListener } from '@jobcast/testkit/event-listener'
import type { Random } from '@jobcast/testkit/seeded-random'
import { waitUntil } from '@jobcast/testkit/wait-until'

type HistoryFollowerOptions = {
  pickNode: () => { http: string; adminKey: string }
  random: Random
}

const backoffMs = 100
/** A failsafe: the service is away for seconds at most. */
const longestMs = 300_000

export class HistoryFollower {
  /** How often it continued where it was. */
  resumes = 0
  readonly problems: string[] = []
  readonly #options: HistoryFollowerOptions
  readonly #seen: JobcastEvent[] = []
  #listener: EventListener | undefined
  #lastId = ''
  #isOver = false

  constructor(options: HistoryFollowerOptions) {
    this.#options = options
  }

  get seen(): JobcastEvent[] {
    return [...this.#seen, ...(this.#listener?.events ?? [])]
  }

  /** Everything up to this event. */
  get upTo(): number {
    return Number(this.#listener?.lastId || this.#lastId)
  }

  async followUntilStopped(): Promise<void> {
    while (!this.#isOver) {
      let listener: EventListener | undefined
      const isLetIn = async () => {
        listener = await this.#open().catch(() => undefined)
        return this.#isOver || listener !== undefined
      }
      await waitUntil('a node lets it follow', isLetIn, { timeoutMs: longestMs, intervalMs: backoffMs })
      if (listener) await this.#follow(listener)
    }
  }

  stop(): void {
    this.#isOver = true
    this.#listener?.close()
  }

  #open(): Promise<EventListener> {
    const { http, adminKey } = this.#options.pickNode()
    const from = this.#lastId === '' ? { query: '?after=0' } : { lastEventId: this.#lastId }
    return EventListener.open(http, adminKey, from)
  }

  async #follow(listener: EventListener): Promise<void> {
    const { random } = this.#options
    if (this.#isOver) listener.close()
    const { ok, status } = listener.response
    if (!ok && status < 500) this.problems.push(`a follower was refused with ${status} after ${this.#lastId}`)
    if (ok && this.#lastId !== '') this.resumes++
    this.#listener = listener
    if (random.chance(0.3)) {
      const enough = 50 + random.below(500)
      await listener
        .until(() => listener.events.length >= enough)
        .then(
          () => listener.close(),
          () => undefined,
        )
    }
    await listener.ended
    this.#listener = undefined
    this.#seen.push(...listener.events)
    this.#lastId = listener.lastId || this.#lastId
  }
}
