// Carries what is in the log over into the file, in a thread of its own while much is written. Without it the commit that
// finds the log long enough does all of it (database.ts), and whatever waits behind that commit waits tens of milliseconds.
// It still does so, but finds little left to carry over. What is on disk, and when, is SQLite's own doing either way.

import type { DatabaseSync } from 'node:sqlite'
import type { Thread } from './database-thread.ts'

/** A fifth of what a commit would wait for (database.ts). */
const pagesBetween = 800
const msBetween = 100
// Estimates: new executions stand side by side, those that change stand apart.
const pagesOfCommit = 10
const newPerPage = 60
const changedPerPage = 10

export function prepareCheckpoints(db: DatabaseSync) {
  // It waits for nobody: what cannot be carried over yet is left for the next time.
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  return { checkpoint: (_?: undefined) => void checkpoint.get() }
}

export type CheckpointSteps = ReturnType<typeof prepareCheckpoints>

export class Checkpoints {
  readonly #thread: Pick<Thread<CheckpointSteps>, 'call'>
  readonly #elapsed: () => number
  #pages = 0
  #endedAt = Number.NEGATIVE_INFINITY
  #isUnderWay = false

  constructor(thread: Pick<Thread<CheckpointSteps>, 'call'>, elapsed = () => performance.now()) {
    this.#thread = thread
    this.#elapsed = elapsed
  }

  /** One transaction has made or changed so many executions. */
  written({ made = 0, changed = 0 }: { made?: number; changed?: number }): void {
    this.#pages += pagesOfCommit + made / newPerPage + changed / changedPerPage
    if (this.#pages < pagesBetween || this.#isUnderWay || this.#elapsed() - this.#endedAt < msBetween) return
    void this.#run()
  }

  async #run(): Promise<void> {
    this.#isUnderWay = true
    this.#pages = 0
    try {
      await this.#thread.call('checkpoint', undefined)
    } catch {
      // The log stays as it is; whoever writes finds out by itself what is wrong with the disk.
    }
    this.#endedAt = this.#elapsed()
    this.#isUnderWay = false
  }
}
