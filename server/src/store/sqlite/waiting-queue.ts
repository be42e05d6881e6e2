// What has not ended on one device, oldest first: the list is always sorted.

import type { Ranks } from './priorities.ts'
import type { Withheld } from './windows.ts'

const none: ReadonlySet<number> = new Set()

export class WaitingQueue {
  #ids: number[] = []
  /** Those that wait for a retry and are not offered; most queues never have one. */
  #delayed: Set<number> | undefined
  /** The last ones of the list, which are being written and cannot be seen yet. */
  #unwritten = 0
  /** Those of them that are on disk before an older one is: others are written while a large run is. */
  #early: Set<number> | undefined
  /** How often it has changed, apart from what is released of it. */
  #changes = 0

  /** Known to be on disk. */
  add(jobExecutionId: number): void {
    this.#append(jobExecutionId)
  }

  /** On its way to the disk. */
  announce(jobExecutionId: number): void {
    this.#append(jobExecutionId)
    this.#unwritten++
  }

  /** On disk, and perhaps older than others: its run took long to write. */
  insert(jobExecutionId: number): void {
    const isEarly = jobExecutionId > this.#firstUnwritten
    this.#ids.splice(this.#positionOf(jobExecutionId), 0, jobExecutionId)
    if (isEarly) {
      this.#unwritten++
      this.#early ??= new Set()
      this.#early.add(jobExecutionId)
    }
    this.#changes++
  }

  /** What was announced is on disk; or it is not, and never was. */
  settle(jobExecutionId: number, written: boolean): void {
    if (!written) {
      this.#unwritten--
      this.#drop(jobExecutionId)
    } else {
      this.#changes++
      if (jobExecutionId > this.#firstUnwritten) {
        this.#early ??= new Set()
        this.#early.add(jobExecutionId)
        return
      }
      this.#unwritten--
    }
    if (this.#early) this.#countEarly()
  }

  leave(jobExecutionId: number): void {
    this.#drop(jobExecutionId)
    if (this.#early?.delete(jobExecutionId)) {
      this.#unwritten--
      this.#countEarly()
    }
    this.#delayed?.delete(jobExecutionId)
    this.#changes++
  }

  delay(jobExecutionId: number): void {
    this.#delayed ??= new Set()
    this.#delayed.add(jobExecutionId)
    this.#changes++
  }

  /** It has moved, and is offered or under way. */
  touch(jobExecutionId: number): void {
    this.#delayed?.delete(jobExecutionId)
    this.#changes++
  }

  /** Its device is in another zone: other windows are open there. */
  changeZone(): void {
    this.#changes++
  }

  /**
   * Another number whenever what a device can see of the queue may be another. A release needs no step of its own, which
   * could fail: with fewer that are held back the number is higher. What is written and held back leaves it as it is.
   */
  mark(held: Withheld): number {
    return this.#changes - this.#countWithheld(held)
  }

  /** How many a device can see. */
  offered(held: Withheld): number {
    const written = this.#ids.length - this.#unwritten + (this.#early?.size ?? 0)
    return written - (this.#delayed?.size ?? 0) - this.#countWithheld(held)
  }

  /** Whether it is being written, as of now. */
  unwritten(): (jobExecutionId: number) => boolean {
    const first = this.#firstUnwritten
    const early = this.#early && new Set(this.#early)
    return (jobExecutionId) => jobExecutionId >= first && !early?.has(jobExecutionId)
  }

  /** All that are older are on disk. */
  get #firstUnwritten(): number {
    return this.#ids[this.#ids.length - this.#unwritten] ?? Number.POSITIVE_INFINITY
  }

  /** The one on disk with the highest id. */
  get newest(): number | undefined {
    if (this.#early) return Math.max(...this.#early)
    return this.#ids[this.#ids.length - this.#unwritten - 1]
  }

  get all(): readonly number[] {
    return this.#ids
  }

  /** The first that are on offer: by their priority, then the oldest. */
  first(count: number, held: Withheld, priorities: Ranks): number[] {
    const delayed = this.#delayed ?? none
    if (!priorities.isEmpty) return this.#firstByPriority(count, held, priorities)
    if (delayed.size === 0 && held.isEmpty) return this.#ids.slice(0, count)
    const found: number[] = []
    for (const id of this.#ids) {
      if (found.length === count) break
      if (!delayed.has(id) && !held.has(id)) found.push(id)
    }
    return found
  }

  #firstByPriority(count: number, held: Withheld, priorities: Ranks): number[] {
    const found = new Map<number, number[]>()
    for (const id of this.#ids) {
      if (this.#delayed?.has(id) || held.has(id)) continue
      const priority = priorities.of(id)
      const alike = found.get(priority)
      if (alike === undefined) found.set(priority, [id])
      else if (alike.length < count) alike.push(id)
      else if (priority === priorities.highest) break
    }
    const byPriority = [...found].sort(([one], [other]) => other - one)
    return byPriority.flatMap(([, ids]) => ids).slice(0, count)
  }

  /** The newest with a lower id, newest first. */
  newestBelow(before: number, count: number): { ids: number[]; complete: boolean } {
    const end = this.#positionOf(before)
    const start = Math.max(0, end - count)
    return { ids: this.#ids.slice(start, end).reverse(), complete: start === 0 }
  }

  /** A first `push` makes room for 17 ids: 130 MB in a million queues of which each has one. */
  #append(jobExecutionId: number): void {
    if (this.#ids.length === 0) this.#ids = [jobExecutionId]
    else this.#ids.push(jobExecutionId)
  }

  /** Of those that are on disk and do not wait for a retry. */
  #countWithheld(held: Withheld): number {
    if (held.isEmpty) return 0
    const early = this.#early ?? none
    const first = this.#firstUnwritten
    let count = 0
    for (const id of this.#ids) {
      const isWritten = id < first || early.has(id)
      if (isWritten && held.has(id) && !this.#delayed?.has(id)) count++
    }
    return count
  }

  /** What none that is being written is older than is one of the others. */
  #countEarly(): void {
    while (this.#early?.delete(this.#firstUnwritten)) this.#unwritten--
    if (this.#early?.size === 0) this.#early = undefined
  }

  #drop(jobExecutionId: number): void {
    const at = this.#positionOf(jobExecutionId)
    if (this.#ids[at] === jobExecutionId) this.#ids.splice(at, 1)
  }

  /** How many are below the id. */
  #positionOf(jobExecutionId: number): number {
    let low = 0
    let high = this.#ids.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] as number) < jobExecutionId) low = middle + 1
      else high = middle
    }
    return low
  }
}
