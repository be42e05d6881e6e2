// Locks and loads what a clock has run out for, a batch at a time (see ../apply-clocks.ts). Several nodes share the work:
// what one has locked, another passes over.

import type { Moment, RunClock } from '../../domain/execution.ts'
import type { Store } from '../../domain/ports/store.ts'
import { intervalStart } from '../../domain/progress-events.ts'
import { applyClocks, RunCursors, runClocks } from '../apply-clocks.ts'
import { batchSize } from '../apply-moves.ts'
import { LIVE, RUN_RANGE } from '../live-executions.ts'
import type { Database } from './database.ts'
import { LIVE_JOINS } from './live-executions.ts'
import { inBatch, type Moves } from './moves.ts'
import type { Policies } from './policies.ts'
import { numbers, type Queries } from './rows.ts'

const DUE = `
  SELECT ${LIVE} FROM execution ${LIVE_JOINS}
  WHERE due_at <= $1 ORDER BY due_at LIMIT ${batchSize} FOR UPDATE OF execution SKIP LOCKED`
// As isHeldBack in domain/progress-events.ts says it.
const HELD = `
  SELECT ${LIVE} FROM execution ${LIVE_JOINS}
  WHERE progress_held AND progress_at <= $1 ORDER BY execution_id LIMIT ${batchSize} FOR UPDATE OF execution SKIP LOCKED`
const RUNS = `SELECT ${RUN_RANGE} FROM run`
// As isEndedBy in domain/execution.ts says it.
const MAY_EXPIRE = `state = 'PENDING' AND attempt = 1`
const MAY_MISS = `state < 'CANCELING'`
const ofRuns = (endedBy: string) => `
  SELECT ${LIVE} FROM unnest($1::bigint[], $2::bigint[]) AS range (first, last)
    CROSS JOIN LATERAL (
      SELECT * FROM execution WHERE execution_id BETWEEN range.first AND range.last AND ${endedBy}
      ORDER BY execution_id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS execution ${LIVE_JOINS}
  LIMIT ${batchSize}`
// What somebody else has locked right now is not done; the next call looks at it again.
const finish = (clock: string, endedBy: string) => `
  UPDATE run SET ${clock} = NULL FROM (
    SELECT run.run_id FROM unnest($1::bigint[]) AS through (run_id) JOIN run USING (run_id)
    WHERE NOT ended AND NOT EXISTS (
      SELECT FROM execution
      WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 AND ${endedBy})
    FOR NO KEY UPDATE OF run SKIP LOCKED) AS done
  WHERE run.run_id = done.run_id`
const runsOf = (clock: string) => `
  ${RUNS} WHERE ${clock} IS NOT NULL AND ${clock} <= $1 AND NOT ended ORDER BY ${clock} LIMIT ${batchSize}`

const statements: Record<RunClock, { runs: string; executions: string; finish: string }> = {
  expire: {
    runs: runsOf('expire_at'),
    executions: ofRuns(MAY_EXPIRE),
    finish: finish('expire_at', MAY_EXPIRE),
  },
  'miss-deadline': {
    runs: runsOf('deadline_at'),
    executions: ofRuns(MAY_MISS),
    finish: finish('deadline_at', MAY_MISS),
  },
}

export function buildClockSteps(db: Database, policies: Policies): Pick<Store, 'fireClocks'> {
  const cursors = new RunCursors()

  async function loadOfRuns(transaction: Queries, moves: Moves, clock: RunClock, moment: Moment) {
    const runs = (await transaction.query(statements[clock].runs, [moment.clock])).map(RUN_RANGE.read)
    if (runs.length === 0) return { clock, runs, executions: [] }
    const executions = await moves.lock(statements[clock].executions, [
      numbers(runs.map((run) => cursors.firstOf(clock, run))),
      numbers(runs.map(({ last }) => last)),
    ])
    return { clock, runs, executions }
  }

  return {
    fireClocks(moment) {
      return db.inTransaction(async (transaction) => {
        const finishes: [string, number[]][] = []
        const fired = await inBatch(transaction, policies, async (moves) => {
          const [own, held, ...ofRuns] = await Promise.all([
            moves.lock(DUE, [moment.clock]),
            moves.lock(HELD, [intervalStart(moment.clock)]),
            ...runClocks.map((clock) => loadOfRuns(transaction, moves, clock, moment)),
          ])
          const { moved, more, finished } = applyClocks(moves.batch, { own, held, ofRuns }, cursors, moment)
          for (const { clock, runIds } of finished) finishes.push([statements[clock].finish, runIds])
          return { moved, more }
        })
        for (const [sql, runIds] of finishes) transaction.send(sql, [numbers(runIds)])
        return fired
      })
    },
  }
}
