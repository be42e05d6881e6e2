// Jobs or devices of one owner by name, exact while writes are in progress. An entry that is being removed is hidden, so that
// later steps do not find it; it is kept separately until the result of its removal.

type Leaving<Ref> = { onDisk: Ref | undefined; removals: number }

export class NameIndex<Ref> {
  readonly #inSight = new Map<string, Ref>()
  readonly #leaving = new Map<string, Leaving<Ref>>()
  /** The number of changes of the entry for a name. */
  changes = 0

  get size(): number {
    return this.#inSight.size
  }

  all(): IterableIterator<Ref> {
    return this.#inSight.values()
  }

  /** Includes entries whose removal is in progress, because it may fail. */
  *allOnDisk(): Generator<Ref> {
    yield* this.#inSight.values()
    for (const { onDisk } of [...this.#leaving.values()]) if (onDisk !== undefined) yield onDisk
  }

  /** The entry that a write sent now will find on disk. */
  get(name: string): Ref | undefined {
    return this.#inSight.get(name)
  }

  /** The entry on disk, also while its removal is in progress. */
  getOnDisk(name: string): Ref | undefined {
    return this.#inSight.get(name) ?? this.#leaving.get(name)?.onDisk
  }

  /** Adds an entry that is on disk. If a removal was sent after it, it remains hidden: results arrive in the order of sending. */
  set(name: string, ref: Ref): void {
    this.changes++
    const leaving = this.#leaving.get(name)
    if (leaving) leaving.onDisk = ref
    else this.#inSight.set(name, ref)
  }

  /** Hides the entry; restores it if the removal fails or was refused. */
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
