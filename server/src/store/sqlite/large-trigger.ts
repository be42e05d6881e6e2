// A trigger of many devices takes the writer 1 ms for each thousand of them, and small ones that come meanwhile do not wait
// for all of it: between two bites they go first. What is written of the large one by then is committed with them, as a
// draft (large-run.ts) that nobody sees and that is erased if the rest never comes. Where nobody waits there is one
// transaction.

import type { DatabaseSync } from 'node:sqlite'
import { inTransaction, rollBack } from './database.ts'
import type { prepareDrafts } from './large-run.ts'
import type { CheckedTrigger } from './trigger-message.ts'
import type { prepareTriggers, RecordedTrigger } from './triggers.ts'

/** Devices. A bite takes the writer about 2 ms; smaller ones would be so many more commits. */
const biteSize = 2000
/** From so many devices on it is written in bites, and smaller ones do not queue behind it. */
export const largeTrigger = 2 * biteSize

/** Those that may go first. */
export type Others = { areWaiting: () => boolean; serve: () => void }
export const noOthers: Others = { areWaiting: () => false, serve: () => undefined }

export function prepareLargeTriggers(
  db: DatabaseSync,
  { earlierCall, recordRun, setLastIds }: ReturnType<typeof prepareTriggers>,
  { beginDraft, addToDraft, endDraft, dropDraft }: ReturnType<typeof prepareDrafts>,
  others: Others,
) {
  /** Up to the commit of all but its last bite, or of nothing. */
  class Writing {
    readonly #trigger: CheckedTrigger
    isDraft = false
    #written = 0

    constructor(trigger: CheckedTrigger) {
      this.#trigger = trigger
    }

    /** In a transaction: until all is written, or somebody waits. */
    goOn(): 'written' | 'others-wait' {
      const { deviceNos, total, firstExecutionId: first, launchedAt: createdAt, ...run } = this.#trigger
      while (this.#written < total) {
        const from = this.#written
        this.#written = Math.min(from + biteSize, total)
        const bite = deviceNos.subarray(from, this.#written)
        addToDraft({ ...run, firstExecutionId: first + from, deviceNos: bite })
        if (this.#written < total && others.areWaiting()) {
          if (!this.isDraft) beginDraft({ ...run, firstExecutionId: first, total, createdAt })
          return 'others-wait'
        }
      }
      return 'written'
    }

    end(): RecordedTrigger {
      const { deviceNos: _, ...run } = this.#trigger
      const recorded = recordRun(run)
      if (!this.isDraft) setLastIds(run)
      else if (recorded.kind === 'created') endDraft(run)
      // One that went first had the same idempotency key.
      else dropDraft(run)
      return recorded
    }
  }

  return (trigger: CheckedTrigger): RecordedTrigger => {
    const earlier = earlierCall(trigger)
    if (earlier) return earlier
    const writing = new Writing(trigger)
    const writeMore = () => (writing.goOn() === 'written' ? writing.end() : undefined)
    try {
      for (;;) {
        const recorded = inTransaction(db, writeMore) as RecordedTrigger | undefined
        if (recorded) return recorded
        writing.isDraft = true
        others.serve()
      }
    } catch (error) {
      if (writing.isDraft) dropQuietly(trigger)
      throw error
    }
  }

  /** If it fails, the next start does it. */
  function dropQuietly(trigger: CheckedTrigger): void {
    try {
      inTransaction(db, () => dropDraft(trigger))
    } catch {
      rollBack(db)
    }
  }
}
