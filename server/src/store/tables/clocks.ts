// Loads executions whose timers have expired, in batches (see domain/execution/apply-clocks.ts). Several nodes on PostgreSQL share
// the work: each skips rows locked by another.

import { laterBy, type SteadyInstant } from '../../domain/common/instants.ts'
import { intervalStart } from '../../domain/event/progress-events.ts'
import {
  applyClocks,
  type ClockSource,
  type RunCursors,
  type RunRange,
  runClocks,
} from '../../domain/execution/apply-clocks.ts'
import { dueEvent, type Moment, type RunClock } from '../../domain/execution/execution.ts'
import { batchSize } from '../../domain/execution/move-batch.ts'
import { deadlineByRelease } from '../../domain/trigger/launch-run.ts'
import { LIVE, liveJoins } from '../live-executions.ts'
import { inBatch, type Moves } from '../moves.ts'
import { inBoth, insertInto, type Sql, type Writes } from '../queries.ts'
import {
  type AnyFields,
  computed,
  flag,
  notNull,
  number,
  orNull,
  rows,
  select,
  steady,
  text,
} from '../schema/column.ts'
import { release, run } from '../schema/tables.ts'
import type { RowSql, Written } from '../statement.ts'
import { unfinishedOn } from './run-fields.ts'
import type { WriteSteps } from './step.ts'

const skipLocked = { sqlite: '', postgres: 'SKIP LOCKED' }

const DUE = inBoth(
  ({ is, join, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE due_at <= :clock ORDER BY due_at LIMIT ${batchSize} ${lockExecution} ${skipLocked[is]}`,
)

// The same condition as isHeldBack in domain/event/progress-events.ts.
const HELD = inBoth(
  ({ is, join, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE ${is === 'sqlite' ? 'progress_held = 1' : 'progress_held'} AND progress_at <= :before
  ORDER BY ${is === 'sqlite' ? 'progress_at' : 'execution_id'} LIMIT ${batchSize} ${lockExecution} ${skipLocked[is]}`,
)

type Statements = { runs: Sql; executions: Sql; finish: Sql }

const range = { first: number(), last: number() }

// Nested loops, so that runs are processed one after the other, each in the order of its ids.
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

// Not EXISTS, for which PostgreSQL would read the whole index.
const MAY_BE_HELD = `(
  SELECT 1 FROM offer_history WHERE offer_history.owner_no = run.owner_no LIMIT 1) IS NOT NULL`
// Changes whenever windows of devices change, which adds or ends a row.
const WINDOWS_MARK = `
  coalesce((SELECT max(since_clock) FROM device_window WHERE device_window.owner_no = run.owner_no), 0) || ' ' ||
  coalesce((SELECT max(until_clock) FROM device_window WHERE device_window.owner_no = run.owner_no), 0)`
const ofOwner = {
  mayBeHeld: computed(MAY_BE_HELD, flag()),
  counts: computed(`run.pending || ' ' || run.in_progress`, text()),
  windowsMark: computed(WINDOWS_MARK, text()),
}
const ofRun = {
  ...run.pick('runId', 'jobVersion'),
  first: run.fields.firstExecutionId,
  last: computed('run.first_execution_id + run.total - 1', number()),
  countsFrom: computed('NULL', orNull(steady())),
  ...ofOwner,
}
const RUN = {
  expire: select({ ...ofRun, dueAt: notNull(run.fields.expireAt) }),
  'miss-deadline': select({ ...ofRun, dueAt: notNull(run.fields.deadlineAt) }),
}
const RELEASE = select({
  ...release.pick('runId', 'first', 'last', 'countsFrom'),
  ...run.pick('jobVersion'),
  dueAt: computed('coalesce(rollout_release.expire_at, deadline_due_at)', steady()),
  ...ofOwner,
})

/** The same for releases. */
function statementsOfReleases(column: string, endedBy: string): Statements {
  const due = `rollout_release.${column}`
  return {
    runs: inBoth(
      ({ join }) => `
  SELECT ${RELEASE} FROM rollout_release ${join} run ON run.run_id = rollout_release.run_id
  WHERE ${due} IS NOT NULL AND ${due} <= :clock ORDER BY ${due} LIMIT ${batchSize}`,
    ),
    executions: executionsOf(endedBy),
    // Skips rows that are locked by others; the next call tries them again.
    finish: inBoth(
      ({ records }) => `
  UPDATE rollout_release SET ${column} = NULL FROM ${records('ranges', { runId: number(), ...range })}
  WHERE rollout_release.run_id = record."runId" AND rollout_release.first_execution_id = record.first
    AND NOT EXISTS (
      SELECT 1 FROM execution WHERE execution_id BETWEEN record.first AND record.last AND ${endedBy})`,
    ),
  }
}

/** `endedBy`: the same condition as isEndedBy in domain/execution/execution.ts. `isOpen`: the condition of the index on SQLite. */
function statementsOf(
  clock: RunClock,
  column: string,
  endedBy: string,
  isOpen = unfinishedOn.sqlite,
): Statements {
  const condition = { sqlite: isOpen, postgres: unfinishedOn.postgres }
  return {
    runs: inBoth(
      ({ is }) => `
  SELECT ${RUN[clock]} FROM run WHERE ${column} IS NOT NULL AND ${column} <= :clock AND ${condition[is]}
  ORDER BY ${column} LIMIT ${batchSize}`,
    ),
    executions: executionsOf(endedBy),
    finish: inBoth(({ is, isIn }) =>
      is === 'sqlite'
        ? `UPDATE run SET ${column} = NULL WHERE ${isIn('run_id', 'runIds', 'bigint')}`
        : // Skips rows that are locked by others; the next call tries them again.
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
const isUnended = `state IN ('PENDING', 'IN_PROGRESS')`
const statements: Record<ClockSource, Record<RunClock, Statements>> = {
  run: {
    expire: statementsOf('expire', 'expire_at', isWaiting, 'pending > 0'),
    'miss-deadline': statementsOf('miss-deadline', 'deadline_at', isUnended),
  },
  release: {
    expire: statementsOfReleases('expire_at', isWaiting),
    'miss-deadline': statementsOfReleases('deadline_due_at', isUnended),
  },
}
const sources: readonly ClockSource[] = ['run', 'release']

// A run that may have been held back continues as a release of the whole run, which stores since when its limits count.
const handed = {
  expire: release.pick('runId', 'first', 'last', 'expireAt', 'countsFrom'),
  'miss-deadline': release.pick('runId', 'first', 'last', 'deadlineAt', 'deadlineDueAt'),
}
const HAND_OVER = {
  expire: intoRelease(handed.expire, 'expire_at = excluded.expire_at, counts_from = excluded.counts_from'),
  'miss-deadline': intoRelease(
    handed['miss-deadline'],
    'deadline_at = excluded.deadline_at, deadline_due_at = excluded.deadline_due_at',
  ),
}
const HANDED_OVER: Record<RunClock, Sql> = {
  expire: inBoth(({ isIn }) => `UPDATE run SET expire_at = NULL WHERE ${isIn('run_id', 'runIds', 'bigint')}`),
  'miss-deadline': inBoth(
    ({ isIn }) =>
      `UPDATE run SET deadline_at = ${deadlineByRelease} WHERE ${isIn('run_id', 'runIds', 'bigint')}`,
  ),
}

function intoRelease<Of extends AnyFields>(fields: Of, set: string): RowSql<Written<Of>> {
  const { sqlite, postgres } = insertInto(fields)
  const onConflict = `ON CONFLICT (run_id, first_execution_id) DO UPDATE SET ${set}`
  return { sqlite: `${sqlite} ${onConflict}`, postgres: `${postgres} ${onConflict}` }
}

const dueColumn: Record<RunClock, string> = { expire: 'expire_at', 'miss-deadline': 'deadline_due_at' }
const postponedTo = { runId: number(), first: number(), next: number() }
const postpone = (clock: RunClock) =>
  inBoth(
    ({ records }) => `
  UPDATE rollout_release SET ${dueColumn[clock]} = record.next FROM ${records('ranges', postponedTo)}
  WHERE rollout_release.run_id = record."runId" AND rollout_release.first_execution_id = record.first`,
  )
const POSTPONE = { expire: postpone('expire'), 'miss-deadline': postpone('miss-deadline') }
const COUNT = rows({ count: number() })
const countLeft = (endedBy: string) =>
  `SELECT count(*) AS count FROM execution WHERE execution_id BETWEEN :first AND :last AND ${endedBy}` as const
const COUNT_LEFT = { expire: countLeft(isWaiting), 'miss-deadline': countLeft(isUnended) }
/** Delay until locked rows are tried again. */
const lockedMs = 1000

type Loading = { queries: Writes; moves: Moves; cursors: RunCursors; moment: Moment }
type DueRange = RunRange & { jobVersion: number; dueAt: SteadyInstant }

async function loadOfRuns(loading: Loading, source: ClockSource, clock: RunClock) {
  const { queries, moves, cursors, moment } = loading
  const found = await queries.all<DueRange, Sql, { clock: number }>(
    source === 'run' ? RUN[clock] : RELEASE,
    statements[source][clock].runs,
    { clock: moment.clock },
  )
  const heldBack = found.filter((each) => each.mayBeHeld)
  const waits =
    source === 'run' ? await handOver(loading, clock, heldBack) : await findWaiting(loading, clock, heldBack)
  const runs = found.filter((each) => !waits.has(each))
  const ranges = runs.map((each) => ({ first: cursors.firstOf(clock, each), last: each.last }))
  const executions =
    runs.length === 0 ? [] : await moves.load(statements[source][clock].executions, { ranges })
  if (runs.some((each) => each.mayBeHeld)) await moves.holders.read(executions)
  return { clock, source, runs, executions, waits: waits.size > 0 }
}

async function handOver(
  { queries }: Loading,
  clock: RunClock,
  heldBack: DueRange[],
): Promise<ReadonlySet<DueRange>> {
  if (heldBack.length === 0) return new Set()
  const policyOf = await queries.readPolicies(heldBack.map(({ jobVersion }) => jobVersion))
  if (clock === 'expire') {
    const expiring = heldBack.map(({ runId, first, last, dueAt, jobVersion }) => {
      const { expireAfterSeconds } = policyOf(jobVersion)
      return {
        runId,
        first,
        last,
        expireAt: dueAt,
        countsFrom: laterBy(-(expireAfterSeconds ?? 0) * 1000, dueAt),
      }
    })
    queries.sendRows(HAND_OVER.expire, expiring)
  } else {
    const late = heldBack.map(({ runId, first, last, dueAt }) => {
      return { runId, first, last, deadlineAt: dueAt, deadlineDueAt: dueAt }
    })
    queries.sendRows(HAND_OVER['miss-deadline'], late)
  }
  queries.send(HANDED_OVER[clock], { runIds: heldBack.map(({ runId }) => runId) })
  return new Set(heldBack)
}

/** Runs in which nothing is known to be due. */
async function findWaiting(
  { queries, moves, cursors, moment }: Loading,
  clock: RunClock,
  heldBack: DueRange[],
): Promise<ReadonlySet<DueRange>> {
  const known = heldBack.flatMap((run) => {
    const waiting = cursors.waitingIn(clock, run)
    return waiting ? [{ run, waiting }] : []
  })
  await moves.holders.readHistory(known.flatMap(({ waiting }) => waiting.holders))
  const { history } = moves.holders
  const waits = known.flatMap(({ run, waiting }) => {
    const next = waiting.nextBy(history, moment.clock)
    return next === undefined ? [] : [{ run, next }]
  })
  const ranges = waits.map(({ run: { runId, first }, next }) => ({ runId, first, next }))
  if (ranges.length > 0) queries.send(POSTPONE[clock], { ranges })
  return new Set(waits.map(({ run }) => run))
}

type Postponed = ReturnType<typeof applyClocks>['postponed'][number]

async function postponeRange(
  { queries, cursors, moment }: Omit<Loading, 'moves'>,
  { clock, run, next, left }: Postponed,
): Promise<void> {
  const { runId, first, last } = run
  const { count } = await queries.one(COUNT, COUNT_LEFT[clock], { first, last })
  const isLocked = count > left
  if (isLocked) cursors.forget(clock, run)
  const soon = isLocked ? Math.min(next, moment.clock + lockedMs) : next
  queries.send(POSTPONE[clock], { ranges: [{ runId, first, next: soon }] })
}

export function clockWrites(cursors: RunCursors): WriteSteps<'fireClocks'> {
  return {
    async fireClocks(queries, moment) {
      const { moved, more, finished, postponed, isHandedOver } = await inBatch(queries, async (moves) => {
        const loading = { queries, moves, cursors, moment }
        const [own, held, ...ofRuns] = await Promise.all([
          moves.load(DUE, { clock: moment.clock }),
          moves.load(HELD, { before: intervalStart(moment.clock) }),
          ...sources.flatMap((source) => runClocks.map((clock) => loadOfRuns(loading, source, clock))),
        ])
        await moves.holders.read(own.filter(({ life }) => dueEvent(life) === 'expire'))
        const isHandedOver = ofRuns.some(({ source, waits }) => source === 'run' && waits)
        return {
          ...applyClocks(moves.batch, { own, held, ofRuns }, cursors, moves, moment),
          isHandedOver,
        }
      })
      for (const { clock, source, runs } of finished) {
        const { finish } = statements[source][clock]
        const values = { runIds: runs.map(({ runId }) => runId), ranges: runs }
        queries.send(finish, values)
      }
      for (const each of postponed) await postponeRange({ queries, cursors, moment }, each)
      return { moved, more: more || isHandedOver }
    },
  }
}
