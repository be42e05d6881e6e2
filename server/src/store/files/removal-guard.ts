// Prevents the removal of content that is being recorded: within a node by its memory, between nodes by marks in the bucket. A node
// that keeps content sets a mark and then checks for marks of removal; a node that removes content sets a mark and then checks for
// marks of keeping. If both happen at once, at least one node sees the mark of the other.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { Bucket } from './bucket.ts'

const keeping = 'keeping'
const removing = 'removing'
/** How long the mark of a killed node is valid. */
const markKeptMs = 10 * 60_000
/** Maximum duration of a removal, far below `markKeptMs`. */
const removalMs = 60_000
const waitLimitMs = 30_000
const pollMs = 200

type GuardOptions = { bucket: Bucket; isShared: boolean; elapsed: () => number }

export class RemovalGuard {
  readonly #bucket: Bucket
  readonly #isShared: boolean
  readonly #elapsed: () => number
  readonly #kept = new Map<string, number>()
  readonly #removing = new Map<string, Promise<void>>()

  constructor({ bucket, isShared, elapsed }: GuardOptions) {
    this.#bucket = bucket
    this.#isShared = isShared
    this.#elapsed = elapsed
  }

  /** Prevents the removal of the object with this hash while `work` runs. */
  async whileKept<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    this.#kept.set(sha256, (this.#kept.get(sha256) ?? 0) + 1)
    try {
      await this.#removing.get(sha256)
      return await (this.#isShared
        ? this.#whileMarked(keeping, sha256, () => this.#keep(sha256, work))
        : work())
    } finally {
      const left = (this.#kept.get(sha256) ?? 1) - 1
      if (left === 0) this.#kept.delete(sha256)
      else this.#kept.set(sha256, left)
    }
  }

  /** Removes the object, unless a node keeps it, or `isUnneeded` returns false. */
  async remove(
    sha256: string,
    isUnneeded: () => Promise<boolean>,
    remove: () => Promise<void>,
  ): Promise<void> {
    if (this.#kept.has(sha256) || this.#removing.has(sha256)) return
    const judge = async () => ((await isUnneeded()) ? remove() : undefined)
    const removal = this.#isShared
      ? this.#whileMarked(removing, sha256, () => this.#removeUnlessKept(sha256, isUnneeded, remove))
      : judge()
    const settled = removal.catch(() => undefined)
    this.#removing.set(sha256, settled)
    try {
      await removal
    } finally {
      this.#removing.delete(sha256)
    }
  }

  /** Whether the key is a mark of a killed node. */
  isLeftMark(key: string, ageMs: number): boolean {
    return [keeping, removing].some((kind) => key.startsWith(`${kind}/`)) && ageMs > markKeptMs
  }

  async #keep<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    const begun = this.#elapsed()
    while (await this.#hasMark(removing, sha256)) {
      if (this.#elapsed() - begun > waitLimitMs)
        throw new StorageUnavailable(`another node is removing the content ${sha256}`)
      await sleep(pollMs)
    }
    return work()
  }

  async #removeUnlessKept(
    sha256: string,
    isUnneeded: () => Promise<boolean>,
    remove: () => Promise<void>,
  ): Promise<void> {
    const begun = this.#elapsed()
    if (await this.#hasMark(keeping, sha256)) return
    // A node that was suspended in between must not trust the earlier check.
    if ((await isUnneeded()) && this.#elapsed() - begun < removalMs) await remove()
  }

  async #whileMarked<T>(kind: string, sha256: string, work: () => Promise<T>): Promise<T> {
    const key = `${kind}/${sha256}/${randomUUID()}`
    await this.#bucket.put(key, Buffer.alloc(0))
    try {
      return await work()
    } finally {
      await this.#bucket.remove(key).catch(() => undefined)
    }
  }

  async #hasMark(kind: string, sha256: string): Promise<boolean> {
    for await (const _mark of this.#bucket.list(`${kind}/${sha256}/`)) return true
    return false
  }
}
