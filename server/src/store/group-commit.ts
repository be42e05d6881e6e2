// Group commit: whatever arrives while a commit is under way is written together by the next one.
// No timer: with one caller a write starts at once, with many callers groups grow by themselves.

import { StorageUnavailable, TooMuchWaiting } from '../domain/ports/storage-errors.ts'

export type GroupCommitOptions<In, Out> = {
  /** What an item costs, for example its number of executions. */
  weigh: (item: In) => number
  /** A group is closed when it weighs this much; one heavier item makes a group of its own. */
  maxGroupWeight: number
  /** More than this may not wait: the next one is refused. */
  maxWaitingWeight: number
  maxWaitingItems: number
  /** Commits sent at once. They must take effect in the order in which they are sent. */
  maxInFlight: number
  /** What weighs less gathers while a commit is under way that weighs less as well. None: it never does. */
  lightWeight?: number
  /** Whose item it is. One owner may take up no more than this part of what may wait. */
  ownerOf: (item: In) => number
  maxOwnerShare: number
  onCommit?: (commit: { items: number; outs: Out[]; ms: number }) => void
  onFailure?: (failure: { items: number }) => void
}

type Member<In, Out> = {
  item: In
  weight: number
  owner: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

/**
 * `commit` takes a list and answers a list in the same order. When it fails, the members are tried one by
 * one, so that one bad member fails alone; unless the storage itself is unavailable, which fails them all.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: In[]) => Promise<Out[]>
  readonly #options: GroupCommitOptions<In, Out>
  #waiting: Member<In, Out>[] = []
  readonly #all = new Load()
  readonly #shares = new Map<number, Load>()
  #inFlight = 0
  #inFlightWeight = 0

  constructor(commit: (items: In[]) => Promise<Out[]>, options: GroupCommitOptions<In, Out>) {
    this.#commit = commit
    this.#options = options
  }

  get waitingItems(): number {
    return this.#waiting.length
  }

  /** Resolves with the item's own outcome once the commit that carries it is on disk. */
  write(item: In): Promise<Out> {
    const weight = this.#options.weigh(item)
    const owner = this.#options.ownerOf(item)
    if (!this.#hasRoomFor(owner, weight)) return Promise.reject(new TooMuchWaiting())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, owner, resolve, reject })
      this.#all.add(1, weight)
      this.#shareOf(owner).add(1, weight)
      this.#sendGroups()
    })
  }

  /** One item may always wait, however heavy it is: else it could never be written. */
  #hasRoomFor(owner: number, weight: number): boolean {
    const { maxWaitingItems: items, maxWaitingWeight: heavy, maxOwnerShare: part } = this.#options
    const share = this.#shares.get(owner)
    const hasShareLeft = share === undefined || share.hasRoomFor(weight, items * part, heavy * part)
    return hasShareLeft && this.#all.hasRoomFor(weight, items, heavy)
  }

  #shareOf(owner: number): Load {
    let share = this.#shares.get(owner)
    if (share === undefined) {
      share = new Load()
      this.#shares.set(owner, share)
    }
    return share
  }

  #sendGroups(): void {
    while (this.#inFlight < this.#options.maxInFlight && this.#waiting.length > 0 && !this.#isLight) {
      const group = this.#takeGroup()
      const weight = group.reduce((sum, member) => sum + member.weight, 0)
      this.#inFlight++
      this.#inFlightWeight += weight
      void this.#send(group).finally(() => {
        this.#inFlight--
        this.#inFlightWeight -= weight
        this.#sendGroups()
      })
    }
  }

  get #isLight(): boolean {
    const { lightWeight = 0 } = this.#options
    return this.#inFlight > 0 && Math.max(this.#inFlightWeight, this.#all.weight) < lightWeight
  }

  #takeGroup(): Member<In, Out>[] {
    let size = 0
    let weight = 0
    for (const member of this.#waiting) {
      if (size > 0 && weight + member.weight > this.#options.maxGroupWeight) break
      size++
      weight += member.weight
    }
    const group = this.#waiting.slice(0, size)
    for (const { owner, weight } of group) this.#leave(owner, weight)
    this.#waiting = this.#waiting.slice(size)
    return group
  }

  #leave(owner: number, weight: number): void {
    this.#all.add(-1, -weight)
    const share = this.#shareOf(owner)
    share.add(-1, -weight)
    if (share.items === 0) this.#shares.delete(owner)
  }

  async #send(group: Member<In, Out>[]): Promise<void> {
    try {
      const outs = await this.#commitAndTell(group.map((member) => member.item))
      group.forEach((member, index) => {
        member.resolve(outs[index] as Out)
      })
    } catch (error) {
      await this.#sendOneByOne(group, error)
    }
  }

  async #commitAndTell(items: In[]): Promise<Out[]> {
    const begun = performance.now()
    try {
      const outs = await this.#commit(items)
      const ms = performance.now() - begun
      // Not within the try: an error of whoever is told would look like a failed commit, and that is sent again.
      queueMicrotask(() => this.#options.onCommit?.({ items: items.length, outs, ms }))
      return outs
    } catch (error) {
      this.#options.onFailure?.({ items: items.length })
      throw error
    }
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
        const [out] = await this.#commitAndTell([member.item])
        member.resolve(out as Out)
      } catch (error) {
        if (error instanceof StorageUnavailable) lost = error
        member.reject(error)
      }
    }
  }
}

/** How much waits. */
class Load {
  items = 0
  weight = 0

  add(items: number, weight: number): void {
    this.items += items
    this.weight += weight
  }

  hasRoomFor(weight: number, maxItems: number, maxWeight: number): boolean {
    return this.items === 0 || (this.items < maxItems && this.weight + weight <= maxWeight)
  }
}
