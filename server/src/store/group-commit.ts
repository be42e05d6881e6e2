// Group commit: whatever arrives while a commit is under way is written together by the next one.
// With few callers a write starts at once, with many callers groups grow by themselves (see also returning-callers.ts).
//
// A group does not wait for locks. If it cannot have one, its items are sent in smaller groups, until it is known whose
// item it is that has to wait. That one waits in a lane of its own, and so does what comes for the same key meanwhile.

import { LocksBusy, StorageUnavailable, TooMuchWaiting } from '../domain/common/ports/storage-errors.ts'
import type { WriteOptions } from '../domain/trigger/ports/write-options.ts'
import { ReturningCallers } from './returning-callers.ts'

export type GroupCommitOptions<In, Out> = {
  /** What an item costs, for example its number of executions. */
  weigh: (item: In) => number
  /** A group is closed when it weighs this much; one heavier item makes a group of its own. */
  maxGroupWeight: number
  /** More than this may not wait: the next one is refused. */
  maxWaitingWeight: number
  maxWaitingItems: number
  /** Commits sent at once, and as many heavy ones. What matters takes effect in the order in which it is sent. */
  maxInFlight: number
  /** What weighs as much is committed by itself, and what is lighter does not wait for it. None: nothing is. */
  heavyWeight?: number
  /**
   * What weighs less gathers while a commit is under way that weighs less as well, and behind it until those that it has
   * answered are back. None: it never does.
   */
  lightWeight?: number
  /** Whose item it is. One owner may take up no more than this part of what may wait. */
  ownerOf: (item: In) => number
  maxOwnerShare: number
  /** What an item may have to wait for, if not its owner. */
  keyOf?: (item: In) => unknown
  /** How many keys at once may have a commit that waits for locks. */
  maxLanesInFlight?: number
  onCommit?: (commit: { items: number; outs: Out[]; ms: number }) => void
  onFailure?: (failure: { items: number }) => void
}

/** Into how many smaller groups one is divided that cannot have its locks. */
const parts = 8

type Member<In, Out> = {
  item: In
  weight: number
  /** What it counts for among what waits. */
  load: number
  owner: number
  /** It takes up room of what may wait. */
  isWaiting: boolean
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

/**
 * `commit` takes a list and answers a list in the same order. When it fails, the members are tried one by
 * one, so that one bad member fails alone; unless the storage itself is unavailable, which fails them all.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: In[], options: WriteOptions) => Promise<Out[]>
  readonly #options: GroupCommitOptions<In, Out>
  /** Of each key that waits for locks, what is to be sent next. */
  readonly #lanes = new Map<unknown, Member<In, Out>[]>()
  readonly #lanesToSend: unknown[] = []
  #lanesInFlight = 0
  readonly #waiting: Member<In, Out>[] = []
  readonly #heavy: Member<In, Out>[] = []
  readonly #all = new Load()
  readonly #shares = new Map<number, Load>()
  #inFlight = 0
  #heavyInFlight = 0
  #inFlightWeight = 0
  readonly #returning = new ReturningCallers(() => this.#sendGroups())

  constructor(
    commit: (items: In[], options: WriteOptions) => Promise<Out[]>,
    options: GroupCommitOptions<In, Out>,
  ) {
    this.#commit = commit
    this.#options = options
  }

  get waitingItems(): number {
    return this.#all.items
  }

  /** Resolves with the item's own outcome once the commit that carries it is on disk. */
  write(item: In): Promise<Out> {
    const { maxWaitingWeight, maxOwnerShare } = this.#options
    const weight = this.#options.weigh(item)
    // Or what is heavier than the share of its owner could only be written when nothing else of this owner waits.
    const load = Math.min(weight, (maxWaitingWeight * maxOwnerShare) / 2)
    const owner = this.#options.ownerOf(item)
    if (!this.#hasRoomFor(owner, load)) return Promise.reject(new TooMuchWaiting())
    return new Promise((resolve, reject) => {
      const member = { item, weight, load, owner, isWaiting: true, resolve, reject }
      const lane = this.#lanes.size === 0 ? undefined : this.#lanes.get(this.#keyOf(member))
      const isHeavy = weight >= (this.#options.heavyWeight ?? Number.POSITIVE_INFINITY)
      const waiting = lane ?? (isHeavy ? this.#heavy : this.#waiting)
      waiting.push(member)
      this.#all.add(1, load)
      this.#shareOf(owner).add(1, load)
      this.#sendGroups()
    })
  }

  #hasRoomFor(owner: number, load: number): boolean {
    const { maxWaitingItems: items, maxWaitingWeight: heavy, maxOwnerShare: part } = this.#options
    const share = this.#shares.get(owner)
    const hasShareLeft = share === undefined || share.hasRoomFor(load, items * part, heavy * part)
    return hasShareLeft && this.#all.hasRoomFor(load, items, heavy)
  }

  #keyOf({ item, owner }: Member<In, Out>): unknown {
    return this.#options.keyOf ? this.#options.keyOf(item) : owner
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
    const { lightWeight = 0 } = this.#options
    const isIdle = this.#inFlight === 0 && this.#all.weight < lightWeight
    if (isIdle && this.#returning.isExpecting(this.#waiting.length)) return
    while (this.#inFlight < this.#options.maxInFlight && this.#waiting.length > 0 && !this.#isLight) {
      const group = this.#takeGroup(this.#waiting)
      const weight = group.reduce((sum, member) => sum + member.weight, 0)
      const begun = performance.now()
      this.#inFlight++
      this.#inFlightWeight += weight
      void this.#send(group).finally(() => {
        this.#inFlight--
        this.#inFlightWeight -= weight
        if (this.#inFlight === 0 && weight < lightWeight)
          this.#returning.expect(group.length, this.#waiting.length, performance.now() - begun)
        this.#sendGroups()
      })
    }
    while (this.#heavyInFlight < this.#options.maxInFlight && this.#heavy.length > 0) {
      const heavy = this.#heavy.splice(0, 1)
      for (const member of heavy) this.#leave(member)
      this.#heavyInFlight++
      void this.#send(heavy).finally(() => {
        this.#heavyInFlight--
        this.#sendGroups()
      })
    }
  }

  get #isLight(): boolean {
    const { lightWeight = 0 } = this.#options
    return this.#inFlight > 0 && Math.max(this.#inFlightWeight, this.#all.weight) < lightWeight
  }

  #takeGroup(waiting: Member<In, Out>[]): Member<In, Out>[] {
    let size = 0
    let weight = 0
    for (const member of waiting) {
      if (size > 0 && weight + member.weight > this.#options.maxGroupWeight) break
      size++
      weight += member.weight
    }
    const group = waiting.splice(0, size)
    for (const member of group) this.#leave(member)
    return group
  }

  #leave(member: Member<In, Out>): void {
    if (!member.isWaiting) return
    member.isWaiting = false
    const { owner, load } = member
    this.#all.add(-1, -load)
    const share = this.#shareOf(owner)
    share.add(-1, -load)
    if (share.items === 0) this.#shares.delete(owner)
  }

  async #send(group: Member<In, Out>[], waitsForLocks = false): Promise<void> {
    try {
      const outs = await this.#commitAndTell(
        group.map((member) => member.item),
        waitsForLocks,
      )
      group.forEach((member, index) => {
        member.resolve(outs[index] as Out)
      })
    } catch (error) {
      if (error instanceof LocksBusy) await this.#separate(group)
      else await this.#sendOneByOne(group, error, waitsForLocks)
    }
  }

  /** What is of one key stays together, in its order. */
  async #separate(group: Member<In, Out>[]): Promise<void> {
    const byKey = [...Map.groupBy(group, (member) => this.#keyOf(member)).values()]
    if (byKey.length === 1) {
      this.#sendInLane(group)
      return
    }
    const size = Math.ceil(byKey.length / parts)
    for (let start = 0; start < byKey.length; start += size) {
      await this.#send(byKey.slice(start, start + size).flat())
    }
  }

  /** All of one key. */
  #sendInLane(group: Member<In, Out>[]): void {
    const [first] = group
    if (first === undefined) return
    const key = this.#keyOf(first)
    const lane = this.#lanes.get(key)
    if (lane) {
      lane.push(...group)
      return
    }
    this.#lanes.set(key, [...group])
    this.#lanesToSend.push(key)
    this.#sendLanes()
  }

  #sendLanes(): void {
    const { maxLanesInFlight = 2 } = this.#options
    while (this.#lanesInFlight < maxLanesInFlight && this.#lanesToSend.length > 0) {
      const key = this.#lanesToSend.shift()
      const lane = this.#lanes.get(key) ?? []
      this.#lanesInFlight++
      void this.#send(this.#takeGroup(lane), true).finally(() => {
        this.#lanesInFlight--
        if (lane.length > 0) this.#lanesToSend.push(key)
        else this.#lanes.delete(key)
        this.#sendLanes()
      })
    }
  }

  async #commitAndTell(items: In[], waitsForLocks: boolean): Promise<Out[]> {
    const begun = performance.now()
    try {
      const outs = await this.#commit(items, { waitsForLocks })
      const ms = performance.now() - begun
      // Not within the try: an error of whoever is told would look like a failed commit, and that is sent again.
      queueMicrotask(() => this.#options.onCommit?.({ items: items.length, outs, ms }))
      return outs
    } catch (error) {
      if (!(error instanceof LocksBusy)) this.#options.onFailure?.({ items: items.length })
      throw error
    }
  }

  async #sendOneByOne(group: Member<In, Out>[], groupError: unknown, waitsForLocks: boolean): Promise<void> {
    if (group.length === 1 || groupError instanceof StorageUnavailable) {
      for (const member of group) member.reject(groupError)
      return
    }
    let lost: StorageUnavailable | undefined
    for (const member of group) {
      try {
        if (lost) throw lost
        const [out] = await this.#commitAndTell([member.item], waitsForLocks)
        member.resolve(out as Out)
      } catch (error) {
        if (error instanceof LocksBusy) {
          this.#sendInLane([member])
          continue
        }
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
