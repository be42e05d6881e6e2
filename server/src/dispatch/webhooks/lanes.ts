// Events on their way to one receiver. Those of one subject stand in a lane and go one after the other, each when the
// one before it was accepted or given up; lanes do not wait for each other.

import type { StoredEvent } from '../../domain/event.ts'

export type Entry = {
  readonly eventId: number
  readonly type: string
  readonly subject: string
  /** Attempts that count for when to give up. */
  tries: number
  /** It was tried, or noted to be: it has a row in the log. */
  isTried: boolean
  /** On the steady clock; 0: at once. */
  dueAt: number
  /** Left out while it waits behind another or for another attempt: many may do so for hours. */
  event: StoredEvent | undefined
}

export class Lanes {
  readonly #lanes = new Map<string, Entry[]>()
  /** First in their lanes: to be sent, or waiting for their time. Those under way are in neither. */
  readonly #ready = new Set<Entry>()
  readonly #waiting = new Set<Entry>()
  /** In the order of their ids. */
  readonly #untried = new Set<Entry>()
  #size = 0
  #earliestDue = Number.POSITIVE_INFINITY

  /** What was not tried yet is added in the order of its ids. */
  add(entry: Entry): void {
    this.#size++
    if (!entry.isTried) this.#untried.add(entry)
    const lane = this.#lanes.get(entry.subject)
    if (lane) {
      entry.event = undefined
      lane.push(entry)
    } else {
      this.#lanes.set(entry.subject, [entry])
      this.#lineUp(entry)
    }
  }

  get size(): number {
    return this.#size
  }

  /** How many could be sent right now. */
  get ready(): number {
    return this.#ready.size
  }

  get firstUntried(): Entry | undefined {
    const [first] = this.#untried
    return first
  }

  /** The one to be sent next, if there is one. */
  peek(elapsed: number): Entry | undefined {
    if (this.#earliestDue <= elapsed) this.#admitDue(elapsed)
    const [first] = this.#ready
    return first
  }

  /** When `peek` finds one; infinite while none waits. */
  get dueAt(): number {
    return this.#ready.size > 0 ? 0 : this.#earliestDue
  }

  /** The one that waits and would be next, though its time has not come. */
  soonest(): Entry | undefined {
    let soonest: Entry | undefined
    for (const entry of this.#waiting) {
      if (soonest === undefined || entry.dueAt < soonest.dueAt) soonest = entry
    }
    return soonest
  }

  /** It is under way. */
  begin(entry: Entry): void {
    this.#ready.delete(entry)
    this.#waiting.delete(entry)
  }

  /** It is tried again when it is due. */
  putBack(entry: Entry): void {
    if (entry.isTried) this.#untried.delete(entry)
    this.#lineUp(entry)
  }

  /** Accepted or given up: the lane goes on. */
  done(entry: Entry): void {
    this.#size--
    this.#untried.delete(entry)
    const lane = this.#lanes.get(entry.subject) ?? []
    lane.shift()
    const [next] = lane
    if (next) this.#lineUp(next)
    else this.#lanes.delete(entry.subject)
  }

  /** Those that wait and are like this need not wait any longer. */
  makeDue(isMeant: (entry: Entry) => boolean): void {
    for (const entry of this.#waiting) {
      if (!isMeant(entry)) continue
      this.#waiting.delete(entry)
      this.#ready.add(entry)
    }
  }

  #lineUp(entry: Entry): void {
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
