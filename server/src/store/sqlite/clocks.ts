// Loads what a clock has run out for, a batch at a time (see ../apply-clocks.ts).

import type { DatabaseSync } from 'node:sqlite'
import type { Moment, RunClock } from '../../domain/execution.ts'
import { intervalStart } from '../../domain/progress-events.ts'
import { applyClocks, RunCursors, runClocks } from '../apply-clocks.ts'
import { batchSize } from '../apply-moves.ts'
import { LIVE, RUN_RANGE, toLive } from '../live-executions.ts'
import { asOnDisk, LIVE_JOINS, type MovedExecution, type Moves, SELECT_LIVE } from './moves.ts'

const DUE = `${SELECT_LIVE} WHERE due_at <= ? ORDER BY due_at LIMIT ${batchSize}`
// As isHeldBack in domain/progress-events.ts says it.
const HELD = `
  ${SELECT_LIVE} WHERE progress_held = 1 AND progress_at <= ? ORDER BY progress_at LIMIT ${batchSize}`
const RUNS = `SELECT ${RUN_RANGE} FROM run`
const EXPIRING = `
  ${RUNS} WHERE expire_at IS NOT NULL AND expire_at <= ? AND pending > 0 ORDER BY expire_at LIMIT ${batchSize}`
const MISSED = `
  ${RUNS} WHERE deadline_at IS NOT NULL AND deadline_at <= ? AND pending + in_progress + canceling > 0
  ORDER BY deadline_at LIMIT ${batchSize}`
// As isEndedBy in domain/execution.ts says it.
const endedBy: Record<RunClock, string> = {
  expire: `state = 'PENDING' AND attempt = 1`,
  'miss-deadline': `state IN ('PENDING', 'IN_PROGRESS')`,
}
// One run after the other, each in the order of its ids: so the loops are nested.
const ofRuns = (clock: RunClock) => `
  SELECT ${LIVE} FROM json_each(?) AS range CROSS JOIN execution ${LIVE_JOINS}
  WHERE execution_id BETWEEN range.value ->> 0 AND range.value ->> 1 AND ${endedBy[clock]} LIMIT ${batchSize}`
const finish = (column: string) =>
  `UPDATE run SET ${column} = NULL WHERE run_id IN (SELECT value FROM json_each(?))`

export function prepareClocks(db: DatabaseSync, { inBatch }: Moves) {
  const due = db.prepare(DUE)
  const held = db.prepare(HELD)
  const statements = {
    expire: {
      runs: db.prepare(EXPIRING),
      executions: db.prepare(ofRuns('expire')),
      finish: db.prepare(finish('expire_at')),
    },
    'miss-deadline': {
      runs: db.prepare(MISSED),
      executions: db.prepare(ofRuns('miss-deadline')),
      finish: db.prepare(finish('deadline_at')),
    },
  }
  const cursors = new RunCursors()

  function loadOfRuns(clock: RunClock, moment: Moment) {
    const runs = statements[clock].runs.all(moment.clock).map(RUN_RANGE.read)
    const ranges = runs.map((run) => [cursors.firstOf(clock, run), run.last])
    const rows = runs.length === 0 ? [] : statements[clock].executions.all(JSON.stringify(ranges))
    return { clock, runs, executions: rows.map(toLive) }
  }

  return {
    fireClocks(moment: Moment): { moved: MovedExecution[]; more: boolean } {
      return inBatch((batch) => {
        const loaded = {
          own: due.all(moment.clock).map(toLive),
          held: held.all(intervalStart(moment.clock)).map(toLive),
          ofRuns: runClocks.map((clock) => loadOfRuns(clock, moment)),
        }
        const { moved, more, finished } = applyClocks(batch, loaded, cursors, moment)
        for (const { clock, runIds } of finished) statements[clock].finish.run(JSON.stringify(runIds))
        return { moved: moved.map((each) => asOnDisk(batch, each)), more }
      })
    },
    /** For when the transaction of a call is rolled back: it has come to none of them. */
    clearCursors: () => cursors.clear(),
  }
}
