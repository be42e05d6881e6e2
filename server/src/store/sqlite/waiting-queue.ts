// The unfinished executions of one device, oldest first; the list is always sorted.

import type { Ranks } from './priorities.ts'
import type { HeldBack } from './windows.ts'

const none: ReadonlySet<number> = new Set()

export class WaitingQueue {
  #ids: number[] = []
  /** Executions that wait for a retry and are not offered; most queues never have one. */
  #delayed: Set<number> | undefined
  /** The number of executions at the end of the list that are being written and not visible yet. */
  #unwritten = 0
  /** Those of them that are on disk before an older one, because others are written during a large run. */
  #early: Set<number> | undefined
  /** The number of changes, except releases. */
  #changes = 0

  /** Adds an execution that is on disk. */
  add(jobExecutionId: number): void {
    this.#append(jobExecutionId)
  }

  /** Adds an execution that is being written. */
  announce(jobExecutionId: number): void {
    this.#append(jobExecutionId)
    this.#unwritten++
  }

  /** Inserts an execution that is on disk and may be older than others, because its run took long to write. */
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

  /** Records whether an announced execution was written. */
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

  /** Records that an execution was changed, and is offered or in progress. */
  touch(jobExecutionId: number): void {
    this.#delayed?.delete(jobExecutionId)
    this.#changes++
  }

  /** Records that the zone of the device has changed, in which other windows may be open. */
  changeZone(): void {
    this.#changes++
  }

  /**
   * A number that changes whenever the visible part of the queue may have changed. A release needs no separate update, which could
   * fail: the fewer executions are held back, the higher is the number. A new execution that is held back does not change it.
   */
  mark(held: HeldBack): number {
    return this.#changes - this.#countHeldBack(held)
  }

  /** The number of executions that the device can see. */
  offered(held: HeldBack): number {
    const written = this.#ids.length - this.#unwritten + (this.#early?.size ?? 0)
    return written - (this.#delayed?.size ?? 0) - this.#countHeldBack(held)
  }

  /** Returns a test for executions that are being written now. */
  unwritten(): (jobExecutionId: number) => boolean {
    const first = this.#firstUnwritten
    const early = this.#early && new Set(this.#early)
    return (jobExecutionId) => jobExecutionId >= first && !early?.has(jobExecutionId)
  }

  /** All older executions are on disk. */
  get #firstUnwritten(): number {
    return this.#ids[this.#ids.length - this.#unwritten] ?? Number.POSITIVE_INFINITY
  }

  /** The execution on disk with the highest id. */
  get newest(): number | undefined {
    if (this.#early) return Math.max(...this.#early)
    return this.#ids[this.#ids.length - this.#unwritten - 1]
  }

  get all(): readonly number[] {
    return this.#ids
  }

  /** The first offered executions, by priority, then oldest first. */
  first(count: number, held: HeldBack, priorities: Ranks): number[] {
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

  #firstByPriority(count: number, held: HeldBack, priorities: Ranks): number[] {
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

  /** The newest executions with a lower id, newest first. */
  newestBelow(before: number, count: number): { ids: number[]; complete: boolean } {
    const end = this.#positionOf(before)
    const start = Math.max(0, end - count)
    return { ids: this.#ids.slice(start, end).reverse(), complete: start === 0 }
  }

  /** The first `push` would allocate space for 17 ids: 130 MB in a million queues with one execution each. */
  #append(jobExecutionId: number): void {
    if (this.#ids.length === 0) this.#ids = [jobExecutionId]
    else this.#ids.push(jobExecutionId)
  }

  /** Counts held executions that are on disk and do not wait for a retry. */
  #countHeldBack(held: HeldBack): number {
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

  /** An early execution stops being early when all older ones are on disk. */
  #countEarly(): void {
    while (this.#early?.delete(this.#firstUnwritten)) this.#unwritten--
    if (this.#early?.size === 0) this.#early = undefined
  }

  #drop(jobExecutionId: number): void {
    const at = this.#positionOf(jobExecutionId)
    if (this.#ids[at] === jobExecutionId) this.#ids.splice(at, 1)
  }

  /** The number of executions below the id. */
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
