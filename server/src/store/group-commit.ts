// Group commit: items that arrive while a commit is in progress are written together by the next one.
// With few callers a write starts at once, with many callers groups grow automatically (see also returning-callers.ts).
//
// A group does not wait for locks. If it cannot get one, its items are sent in smaller groups, until the item that must wait
// is found. That item and further items with the same key then wait in a separate lane.

import { LocksBusy, StorageUnavailable, TooMuchWaiting } from '../domain/common/ports/storage-errors.ts'
import type { WriteOptions } from '../domain/trigger/ports/write-options.ts'
import { ReturningCallers } from './returning-callers.ts'

export type GroupCommitOptions<In, Out> = {
  /** The cost of an item, for example its number of executions. */
  weigh: (item: In) => number
  /** A group is closed at this weight; a heavier item forms its own group. */
  maxGroupWeight: number
  /** The maximum weight of waiting items; further items are refused. */
  maxWaitingWeight: number
  maxWaitingItems: number
  /** Maximum number of concurrent commits, and the same number of heavy ones. Commits take effect in the order of sending. */
  maxInFlight: number
  /** Items from this weight on are committed separately, and lighter ones do not wait for them. By default there are none. */
  heavyWeight?: number
  /**
   * Items below this weight gather during a commit that is also below it, and afterwards until its callers have returned. By
   * default they do not.
   */
  lightWeight?: number
  /** The owner of an item. One owner may use only the share `maxOwnerShare` of the waiting weight. */
  ownerOf: (item: In) => number
  maxOwnerShare: number
  /** The key by which an item waits for locks; by default its owner. */
  keyOf?: (item: In) => unknown
  /** Maximum number of keys with a commit that waits for locks. */
  maxLanesInFlight?: number
  onCommit?: (commit: { items: number; outs: Out[]; ms: number }) => void
  onFailure?: (failure: { items: number }) => void
}

/** The number of smaller groups into which a group is split that cannot get its locks. */
const parts = 8

type Member<In, Out> = {
  item: In
  weight: number
  /** Its part of the waiting weight. */
  load: number
  owner: number
  /** Counted in the waiting weight. */
  isWaiting: boolean
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

/**
 * `commit` takes a list and returns a list in the same order. When it fails, the members are tried one by
 * one, so that one bad member fails alone; unless the storage itself is unavailable, which fails them all.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: In[], options: WriteOptions) => Promise<Out[]>
  readonly #options: GroupCommitOptions<In, Out>
  /** The next items of each key that waits for locks. */
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

  /** Resolves with the outcome of the item when its commit is on disk. */
  write(item: In): Promise<Out> {
    const { maxWaitingWeight, maxOwnerShare } = this.#options
    const weight = this.#options.weigh(item)
    // Limited, because an item above the share of its owner could otherwise only be written when no other item of it waits.
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

  /** Keeps items with the same key together, in their order. */
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

  /** The group has items of one key. */
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
      // Outside of the try: an error in the callback would look like a failed commit, which is sent again.
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

/** The number and weight of waiting items. */
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
