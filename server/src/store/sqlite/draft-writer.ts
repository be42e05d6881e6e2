// Writes runs on many devices. Their executions are written in batches, and other requests to the writer have priority between
// two batches. In that case the rows so far are committed as a draft, which is invisible, and is erased if it is never completed.
// The run itself is written with the last batch. Without other requests there is one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { insertInto } from '../queries.ts'
import { runDraft } from '../schema/tables.ts'
import { endOfGoneDevices, newestEvent, type VisibleRun } from '../tables/gone-devices.ts'
import { isDiskFault, rollBack } from './database.ts'
import { prepareNamed } from './named-queries.ts'
import type { CheckedTrigger } from './trigger-message.ts'
import { INSERT_EXECUTIONS, type prepareTriggers, type RecordedTrigger, readLastIds } from './triggers.ts'
import type { openWrites } from './writes.ts'

/** Devices per batch, which takes the writer about 2 ms; smaller batches would cause more commits. */
export const batchSize = 2000
/** Longer transactions would be one long write to the disk, for which all requests wait. */
const batchesPerCommit = 10

const ERASE_LATER = `
  INSERT INTO purged_range (first_execution_id, last_execution_id)
  SELECT first_execution_id, first_execution_id + total - 1 FROM run_draft`
const DROP = 'DELETE FROM run_draft'
const OF_RUN = 'WHERE run_id = :runId'
const LEFT = 'WHERE run_id <= :lastRunId'

export type LargeRun = CheckedTrigger & Pick<VisibleRun, 'clock' | 'actor'>
type WriteProgress = RecordedTrigger | { kind: 'unfinished' }

/** `hasWaiters`: whether other requests wait for the writer. */
type DraftOptions = { hasWaiters: () => boolean; batchSize: number }
export const noWaiters: DraftOptions = { hasWaiters: () => false, batchSize }

/** `after`: the newest event when it began; executions on devices that are deleted after it end with the run. */
type Draft = { run: LargeRun; written: number; after: number }

export function prepareDrafts(
  db: DatabaseSync,
  queries: ReturnType<typeof openWrites>,
  { earlierCall, recordRun, setLastIds }: ReturnType<typeof prepareTriggers>,
  options: DraftOptions,
) {
  const insertDraft = prepareNamed(db, insertInto(runDraft.fields))
  const insertExecutions = db.prepare(INSERT_EXECUTIONS)
  const [eraseLater, drop] = [ERASE_LATER, DROP].map((sql) => prepareNamed(db, `${sql} ${OF_RUN}`))
  const [eraseLeft, dropLeft] = [ERASE_LATER, DROP].map((sql) => prepareNamed(db, `${sql} ${LEFT}`))
  const findLeft = prepareNamed(db, `SELECT 1 FROM run_draft ${LEFT} LIMIT 1`)
  const { runId: lastRunId } = readLastIds(db)
  /** Partially committed runs by id. */
  const drafts = new Map<number, Draft>()

  function writeBatch(draft: Draft): void {
    const { runId, ownerNo, firstExecutionId, deviceNos, priority = null } = draft.run
    const from = draft.written
    const batch = deviceNos.subarray(from, from + options.batchSize)
    insertExecutions.run(firstExecutionId + from, runId, ownerNo, priority, `[${batch.join(',')}]`)
    draft.written += batch.length
  }

  /** Within a transaction, writes until everything is written or another request waits. */
  async function writeMore(draft: Draft): Promise<WriteProgress> {
    const { run, after } = draft
    const isBegun = drafts.has(run.runId)
    for (let batches = 0; draft.written < run.total; batches++) {
      if (batches === batchesPerCommit || (batches > 0 && options.hasWaiters())) {
        if (!isBegun) begin(draft)
        return { kind: 'unfinished' }
      }
      writeBatch(draft)
    }
    const { deviceNos: _, ...made } = run
    const recorded = recordRun(made)
    // Another call with the same idempotency key was faster.
    if (recorded.kind !== 'created') dropDraft(run)
    else {
      if (isBegun) end(run)
      else setLastIds(run)
      await endOfGoneDevices(queries, { ...run, after })
    }
    return recorded
  }

  function begin(draft: Draft): void {
    const { runId, ownerNo, firstExecutionId, total, launchedAt } = draft.run
    setLastIds(draft.run)
    insertDraft.run({ ...{ runId, ownerNo, firstExecutionId, total }, createdAt: launchedAt, nodeNo: 0 })
    drafts.set(runId, draft)
  }

  function end({ runId }: { runId: number }): void {
    drafts.delete(runId)
    drop?.run({ runId })
  }

  /** Its rows are erased later. */
  function dropDraft({ runId }: { runId: number }): void {
    eraseLater?.run({ runId })
    end({ runId })
  }

  return {
    /** Writes no executions for a repeated call. */
    async writeRun(run: LargeRun): Promise<WriteProgress> {
      const earlier = earlierCall(run)
      return earlier ?? writeMore({ run, written: 0, after: await newestEvent(queries, run) })
    },
    /** Continues an unfinished run. */
    async continueRun({ runId }: { runId: number }): Promise<WriteProgress> {
      const draft = drafts.get(runId)
      if (draft === undefined) throw new Error(`run ${runId} is not being written`)
      return writeMore(draft)
    },
    dropDraft,
    /** Drops drafts of the previous process. */
    dropLeft(): void {
      if (findLeft.get({ lastRunId }) === undefined) return
      for (const statement of [eraseLeft, dropLeft]) statement?.run({ lastRunId })
    },
  }
}

/** Called at startup, when no draft can be in progress. If the disk is full they remain, invisible, until a purge drops them. */
export function dropDrafts(db: DatabaseSync): void {
  if (db.prepare('SELECT 1 FROM run_draft LIMIT 1').get() === undefined) return
  try {
    db.exec(`BEGIN IMMEDIATE; ${ERASE_LATER}; ${DROP}; COMMIT`)
  } catch (error) {
    rollBack(db)
    if (!isDiskFault(error)) throw error
  }
}
