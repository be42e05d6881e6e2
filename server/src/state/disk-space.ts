// Watches the free space of the disk with the database. When it runs short, the largest writers are refused first: files
// well above the mark, output and progress below the mark, and triggers below half of it. That leaves room for the ends of
// executions, for deletions, and for the database's own maintenance.

import { SpaceShort, StorageUnavailable } from '../domain/common/ports/storage-errors.ts'

export type DiskUse = { freeBytes: number; totalBytes: number }

type DiskChange = {
  refused: 'nothing' | 'progress' | 'triggers'
  freeBytes: number
  markBytes: number
}

type DiskSpaceOptions = {
  /** The mark; 0: nothing is refused. */
  minFreeBytes: number
  read: () => Promise<DiskUse>
  /** The free space has passed a mark, up or down. */
  onChange: (change: DiskChange) => void
}

/** On a small disk the mark is lower: at most this part of its size. */
const largestPart = 0.05
/** Files must leave this many marks free, so that one owner's uploads do not stop the output of all. */
const marksLeftByFiles = 4

export class DiskSpace {
  readonly #options: DiskSpaceOptions
  #freeBytes = Number.NaN
  #markBytes = 0
  #refused: DiskChange['refused'] = 'nothing'

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  get freeBytes(): number {
    return this.#freeBytes
  }

  /** Whether output and progress reports are refused. */
  get refusesProgress(): boolean {
    return this.#refused !== 'nothing'
  }

  get refusesTriggers(): boolean {
    return this.#refused === 'triggers'
  }

  refusal(): SpaceShort {
    return new SpaceShort(`${this.#freeBytes} bytes of the disk are free, less than ${this.#markBytes}`)
  }

  /** Throws StorageUnavailable if there is no room for this many more bytes of a file. */
  requireRoomForFile(bytes: number): void {
    const needed = bytes + marksLeftByFiles * this.#markBytes
    if (this.#freeBytes >= needed || Number.isNaN(this.#freeBytes)) return
    throw new StorageUnavailable(
      `${this.#freeBytes} bytes of the disk are free, less than the ${needed} that a file needs`,
    )
  }

  /** Call regularly. */
  async check(): Promise<void> {
    const { minFreeBytes, read, onChange } = this.#options
    const { freeBytes, totalBytes } = await read()
    this.#freeBytes = freeBytes
    this.#markBytes = Math.min(minFreeBytes, Math.floor(totalBytes * largestPart))
    const before = this.#refused
    this.#refused =
      freeBytes >= this.#markBytes ? 'nothing' : freeBytes >= this.#markBytes / 2 ? 'progress' : 'triggers'
    if (this.#refused !== before) onChange({ refused: this.#refused, freeBytes, markBytes: this.#markBytes })
  }
}
