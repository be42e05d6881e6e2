// Loads what a clock has run out for, a batch at a time (see domain/execution/apply-clocks.ts). Several nodes on PostgreSQL share the
// work: what one has locked, another passes over.

import { intervalStart } from '../../domain/event/progress-events.ts'
import {
  applyClocks,
  type ClockSource,
  type RunCursors,
  runClocks,
} from '../../domain/execution/apply-clocks.ts'
import type { Moment, RunClock } from '../../domain/execution/execution.ts'
import { batchSize } from '../../domain/execution/move-batch.ts'
import { LIVE, liveJoins, RUN_RANGE } from '../live-executions.ts'
import { inBatch, type Moves } from '../moves.ts'
import { inBoth, type Queries, type Sql } from '../queries.ts'
import { number, select } from '../schema/column.ts'
import { release } from '../schema/tables.ts'
import { unfinishedOn } from './run-fields.ts'
import type { WriteSteps } from './step.ts'

const skipLocked = { sqlite: '', postgres: 'SKIP LOCKED' }

const DUE = inBoth(
  ({ is, join, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE due_at <= :clock ORDER BY due_at LIMIT ${batchSize} ${lockExecution} ${skipLocked[is]}`,
)

// As isHeldBack in domain/event/progress-events.ts says it.
const HELD = inBoth(
  ({ is, join, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE ${is === 'sqlite' ? 'progress_held = 1' : 'progress_held'} AND progress_at <= :before
  ORDER BY ${is === 'sqlite' ? 'progress_at' : 'execution_id'} LIMIT ${batchSize} ${lockExecution} ${skipLocked[is]}`,
)

type Statements = { runs: Sql; executions: Sql; finish: Sql }

const range = { first: number(), last: number() }

// One run after the other, each in the order of its ids: so the loops are nested.
function executionsOf(endedBy: string): Sql {
  return inBoth(({ is, join, records }) => {
    const ofRun = `execution_id BETWEEN record.first AND record.last AND ${endedBy}`
    const found =
      is === 'sqlite'
        ? `execution ON ${ofRun}`
        : `LATERAL (SELECT * FROM execution WHERE ${ofRun} ORDER BY execution_id LIMIT ${batchSize}
    FOR UPDATE SKIP LOCKED) AS execution ON true`
    return `SELECT ${LIVE} FROM ${records('ranges', range)} ${join} ${found} ${liveJoins(join)} LIMIT ${batchSize}`
  })
}

const RELEASE = select(release.pick('runId', 'first', 'last'))

/** The same for what was released at once. */
function statementsOfReleases(column: string, endedBy: string): Statements {
  return {
    runs: `
  SELECT ${RELEASE} FROM rollout_release WHERE ${column} IS NOT NULL AND ${column} <= :clock
  ORDER BY ${column} LIMIT ${batchSize}`,
    executions: executionsOf(endedBy),
    // What somebody else has locked right now is not done; the next call looks at it again.
    finish: inBoth(
      ({ records }) => `
  UPDATE rollout_release SET ${column} = NULL FROM ${records('ranges', { runId: number(), ...range })}
  WHERE rollout_release.run_id = record."runId" AND rollout_release.first_execution_id = record.first
    AND NOT EXISTS (
      SELECT 1 FROM execution WHERE execution_id BETWEEN record.first AND record.last AND ${endedBy})`,
    ),
  }
}

/** `endedBy`: as isEndedBy in domain/execution/execution.ts says it. `isOpen`: the condition of the index on SQLite. */
function statementsOf(column: string, endedBy: string, isOpen = unfinishedOn.sqlite): Statements {
  const condition = { sqlite: isOpen, postgres: unfinishedOn.postgres }
  return {
    runs: inBoth(
      ({ is }) => `
  SELECT ${RUN_RANGE} FROM run WHERE ${column} IS NOT NULL AND ${column} <= :clock AND ${condition[is]}
  ORDER BY ${column} LIMIT ${batchSize}`,
    ),
    executions: executionsOf(endedBy),
    finish: inBoth(({ is, isIn }) =>
      is === 'sqlite'
        ? `UPDATE run SET ${column} = NULL WHERE ${isIn('run_id', 'runIds', 'bigint')}`
        : // What somebody else has locked right now is not done; the next call looks at it again.
          `UPDATE run SET ${column} = NULL FROM (
    SELECT run.run_id FROM unnest(CAST(:runIds AS bigint[])) AS through (run_id) JOIN run USING (run_id)
    WHERE NOT ended AND NOT EXISTS (
      SELECT FROM execution
      WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 AND ${endedBy})
    FOR NO KEY UPDATE OF run SKIP LOCKED) AS done
  WHERE run.run_id = done.run_id`,
    ),
  }
}

const isWaiting = `state = 'PENDING' AND attempt = 1 AND due_at IS NULL`
const isUnderWay = `state IN ('PENDING', 'IN_PROGRESS')`
const statements: Record<ClockSource, Record<RunClock, Statements>> = {
  run: {
    expire: statementsOf('expire_at', isWaiting, 'pending > 0'),
    'miss-deadline': statementsOf('deadline_at', isUnderWay),
  },
  release: {
    expire: statementsOfReleases('expire_at', isWaiting),
    'miss-deadline': statementsOfReleases('deadline_due_at', isUnderWay),
  },
}
const sources: readonly ClockSource[] = ['run', 'release']

async function loadOfRuns(
  queries: Queries,
  moves: Moves,
  cursors: RunCursors,
  source: ClockSource,
  clock: RunClock,
  moment: Moment,
) {
  const rows = source === 'run' ? RUN_RANGE : RELEASE
  const runs = await queries.all(rows, statements[source][clock].runs, { clock: moment.clock })
  const ranges = runs.map((run) => ({ first: cursors.firstOf(clock, run), last: run.last }))
  const executions =
    runs.length === 0 ? [] : await moves.load(statements[source][clock].executions, { ranges })
  return { clock, source, runs, executions }
}

export function clockWrites(cursors: RunCursors): WriteSteps<'fireClocks'> {
  return {
    async fireClocks(queries, moment) {
      const { moved, more, finished } = await inBatch(queries, async (moves) => {
        const [own, held, ...ofRuns] = await Promise.all([
          moves.load(DUE, { clock: moment.clock }),
          moves.load(HELD, { before: intervalStart(moment.clock) }),
          ...sources.flatMap((source) =>
            runClocks.map((clock) => loadOfRuns(queries, moves, cursors, source, clock, moment)),
          ),
        ])
        return applyClocks(moves.batch, { own, held, ofRuns }, cursors, moment)
      })
      for (const { clock, source, runs } of finished) {
        const { finish } = statements[source][clock]
        const values = { runIds: runs.map(({ runId }) => runId), ranges: runs }
        queries.send(finish, values)
      }
      return { moved, more }
    },
  }
}
