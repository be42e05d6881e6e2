// Group commit: whatever arrives while a commit is under way is written together by the next one.
// No timer: with one caller a write starts at once, with many callers groups grow by themselves.

import { StorageUnavailable, TooMuchWaiting } from '../domain/store.ts'

export type GroupCommitOptions<In> = {
  /** What an item costs, for example its number of executions. */
  weigh: (item: In) => number
  /** A group is closed when it weighs this much; one heavier item makes a group of its own. */
  maxGroupWeight: number
  /** More than this may not wait: the next one is refused. */
  maxWaitingWeight: number
  maxWaitingItems: number
  /** Commits sent at once. They must take effect in the order in which they are sent. */
  maxInFlight: number
  onGroup?: (group: { items: number; weight: number; ms: number }) => void
}

type Member<In, Out> = {
  item: In
  weight: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

/**
 * `commit` takes a list and answers a list in the same order. When it fails, the members are tried one by
 * one, so that one bad member fails alone; unless the storage itself is unavailable, which fails them all.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: In[]) => Promise<Out[]>
  readonly #options: GroupCommitOptions<In>
  #waiting: Member<In, Out>[] = []
  #waitingWeight = 0
  #inFlight = 0

  constructor(commit: (items: In[]) => Promise<Out[]>, options: GroupCommitOptions<In>) {
    this.#commit = commit
    this.#options = options
  }

  get waitingItems(): number {
    return this.#waiting.length
  }

  /** Resolves with the item's own outcome once the commit that carries it is on disk. */
  write(item: In): Promise<Out> {
    const weight = this.#options.weigh(item)
    const { maxWaitingItems, maxWaitingWeight } = this.#options
    const full =
      this.#waiting.length >= maxWaitingItems ||
      (this.#waiting.length > 0 && this.#waitingWeight + weight > maxWaitingWeight)
    if (full) return Promise.reject(new TooMuchWaiting())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject })
      this.#waitingWeight += weight
      this.#sendGroups()
    })
  }

  #sendGroups(): void {
    while (this.#inFlight < this.#options.maxInFlight && this.#waiting.length > 0) {
      this.#inFlight++
      void this.#send(this.#takeGroup()).finally(() => {
        this.#inFlight--
        this.#sendGroups()
      })
    }
  }

  #takeGroup(): Member<In, Out>[] {
    let size = 0
    let weight = 0
    for (const member of this.#waiting) {
      if (size > 0 && weight + member.weight > this.#options.maxGroupWeight) break
      size++
      weight += member.weight
    }
    this.#waitingWeight -= weight
    const group = this.#waiting.slice(0, size)
    this.#waiting = this.#waiting.slice(size)
    return group
  }

  async #send(group: Member<In, Out>[]): Promise<void> {
    const begun = performance.now()
    try {
      const outs = await this.#commit(group.map((member) => member.item))
      group.forEach((member, index) => {
        member.resolve(outs[index] as Out)
      })
    } catch (error) {
      await this.#sendOneByOne(group, error)
    }
    const weight = group.reduce((sum, member) => sum + member.weight, 0)
    this.#options.onGroup?.({ items: group.length, weight, ms: performance.now() - begun })
  }

  async #sendOneByOne(group: Member<In, Out>[], groupError: unknown): Promise<void> {
    if (group.length === 1 || groupError instanceof StorageUnavailable) {
      for (const member of group) member.reject(groupError)
      return
    }
    let lost: StorageUnavailable | undefined
    for (const member of group) {
      try {
        if (lost) throw lost
        const [out] = await this.#commit([member.item])
        member.resolve(out as Out)
      } catch (error) {
        if (error instanceof StorageUnavailable) lost = error
        member.reject(error)
      }
    }
  }
}
