// Jobs or devices of one owner by name, exact while writes are under way. What is being removed is out of
// sight, so that nothing sent later can find it; it is kept aside until its removal is answered.

type Leaving<Ref> = { onDisk: Ref | undefined; removals: number }

export class NameIndex<Ref> {
  readonly #inSight = new Map<string, Ref>()
  readonly #leaving = new Map<string, Leaving<Ref>>()
  /** How often something else was found under a name than before. */
  changes = 0

  get size(): number {
    return this.#inSight.size
  }

  all(): IterableIterator<Ref> {
    return this.#inSight.values()
  }

  /** Also those whose removal is under way: it may fail. */
  *allOnDisk(): Generator<Ref> {
    yield* this.#inSight.values()
    for (const { onDisk } of [...this.#leaving.values()]) if (onDisk !== undefined) yield onDisk
  }

  /** What a write that is sent now will find on disk. */
  get(name: string): Ref | undefined {
    return this.#inSight.get(name)
  }

  /** What is on disk, also while its removal is under way. */
  getOnDisk(name: string): Ref | undefined {
    return this.#inSight.get(name) ?? this.#leaving.get(name)?.onDisk
  }

  /** It is on disk. If a removal was sent after it, it stays out of sight: answers come in the order of sending. */
  set(name: string, ref: Ref): void {
    this.changes++
    const leaving = this.#leaving.get(name)
    if (leaving) leaving.onDisk = ref
    else this.#inSight.set(name, ref)
  }

  /** Out of sight from now on; in sight again if the removal fails or was refused. */
  async remove<T>(
    name: string,
    write: () => Promise<T>,
    isGone: (answer: T) => boolean = () => true,
  ): Promise<T> {
    const leaving = this.#leaving.get(name) ?? { onDisk: this.#inSight.get(name), removals: 0 }
    this.#leaving.set(name, leaving)
    this.#inSight.delete(name)
    this.changes++
    leaving.removals++
    try {
      const answer = await write()
      if (isGone(answer)) leaving.onDisk = undefined
      return answer
    } finally {
      if (--leaving.removals === 0) {
        this.#leaving.delete(name)
        this.changes++
        if (leaving.onDisk !== undefined) this.#inSight.set(name, leaving.onDisk)
      }
    }
  }
}
