// Buffers the times of last use and writes them in batches: a write per request would make every read a write. Pending times
// are visible on this node.

type Use = { id: string; at: number }

export class LastUses {
  readonly #write: (uses: Use[]) => Promise<void>
  #uses = new Map<string, number>()
  /** Uses being written. */
  #written = new Map<string, number>()

  constructor(write: (uses: Use[]) => Promise<void>) {
    this.#write = write
  }

  note(id: string, at: number): void {
    this.#uses.set(id, at)
  }

  /** 0: never. */
  latest(id: string, stored: number | null): number {
    return Math.max(stored ?? 0, this.#uses.get(id) ?? 0, this.#written.get(id) ?? 0)
  }

  /** After a failed write, the uses are kept for the next one. */
  async record(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#written = uses
    this.#uses = new Map()
    try {
      await this.#write(Array.from(uses, ([id, at]) => ({ id, at })))
    } catch (error) {
      for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at)
      throw error
    } finally {
      this.#written = new Map()
    }
  }
}
