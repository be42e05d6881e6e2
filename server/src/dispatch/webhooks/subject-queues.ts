// Events to be delivered to one receiver, one queue per subject. Events of a subject are sent in order, each once the
// one before it was accepted or given up; subjects do not wait for each other.

import type { StoredEvent } from '../../domain/event/event.ts'

export type Entry = {
  readonly eventId: number
  readonly type: string
  readonly subject: string
  /** Attempts that count toward giving up. */
  tries: number
  /** It was attempted, so it has a row in the delivery log. */
  isTried: boolean
  /** On the monotonic clock; 0 means now. */
  dueAt: number
  /** Dropped while the entry is queued behind another or waits for a retry, to save memory: that may take hours. */
  event: StoredEvent | undefined
}

export class SubjectQueues {
  readonly #queues = new Map<string, Entry[]>()
  /** Heads of their queues: ready to send, or waiting until due. Entries being sent are in neither. */
  readonly #ready = new Set<Entry>()
  readonly #waiting = new Set<Entry>()
  /** Ordered by event id. */
  readonly #untried = new Set<Entry>()
  #size = 0
  #earliestDue = Number.POSITIVE_INFINITY

  /** Untried entries must be added in the order of their event ids. */
  add(entry: Entry): void {
    this.#size++
    if (!entry.isTried) this.#untried.add(entry)
    const queue = this.#queues.get(entry.subject)
    if (queue) {
      entry.event = undefined
      queue.push(entry)
    } else {
      this.#queues.set(entry.subject, [entry])
      this.#schedule(entry)
    }
  }

  get size(): number {
    return this.#size
  }

  /** How many can be sent now. */
  get ready(): number {
    return this.#ready.size
  }

  get firstUntried(): Entry | undefined {
    const [first] = this.#untried
    return first
  }

  /** The next entry to send, if one is due. */
  peek(elapsed: number): Entry | undefined {
    if (this.#earliestDue <= elapsed) this.#admitDue(elapsed)
    const [first] = this.#ready
    return first
  }

  /** When `peek` will return an entry; infinite if none is scheduled. */
  get dueAt(): number {
    return this.#ready.size > 0 ? 0 : this.#earliestDue
  }

  /** The waiting entry that is due first. */
  soonest(): Entry | undefined {
    let soonest: Entry | undefined
    for (const entry of this.#waiting) {
      if (soonest === undefined || entry.dueAt < soonest.dueAt) soonest = entry
    }
    return soonest
  }

  /** Marks the entry as being sent. */
  begin(entry: Entry): void {
    this.#ready.delete(entry)
    this.#waiting.delete(entry)
  }

  /** Schedules another attempt at `dueAt`. */
  putBack(entry: Entry): void {
    if (entry.isTried) this.#untried.delete(entry)
    this.#schedule(entry)
  }

  /** Accepted or given up: the next event of the subject follows. */
  done(entry: Entry): void {
    this.#size--
    this.#untried.delete(entry)
    const queue = this.#queues.get(entry.subject) ?? []
    queue.shift()
    const [next] = queue
    if (next) this.#schedule(next)
    else this.#queues.delete(entry.subject)
  }

  /** Makes the matching waiting entries due now. */
  makeDue(matches: (entry: Entry) => boolean): void {
    for (const entry of this.#waiting) {
      if (!matches(entry)) continue
      this.#waiting.delete(entry)
      this.#ready.add(entry)
    }
  }

  #schedule(entry: Entry): void {
    if (entry.dueAt === 0) {
      this.#ready.add(entry)
    } else {
      this.#waiting.add(entry)
      this.#earliestDue = Math.min(this.#earliestDue, entry.dueAt)
    }
  }

  #admitDue(elapsed: number): void {
    this.#earliestDue = Number.POSITIVE_INFINITY
    for (const entry of this.#waiting) {
      if (entry.dueAt > elapsed) {
        this.#earliestDue = Math.min(this.#earliestDue, entry.dueAt)
        continue
      }
      this.#waiting.delete(entry)
      this.#ready.add(entry)
    }
  }
}
