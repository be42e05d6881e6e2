// Moves what a clock has run out for. A bite at a time: between two of them everybody else gets to the rows. Several
// nodes share the work: what one has locked, another passes over.

import { dueEvent, type Life, type Moment } from '../../domain/execution.ts'
import type { Moved, Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { LIVE_COLUMNS, LIVE_JOINS, type LiveExecution } from './live-executions.ts'
import { Moves, moving } from './moves.ts'
import type { Policies } from './policies.ts'
import { numbers, type Queries, type Row } from './rows.ts'

const DUE = `
  SELECT ${LIVE_COLUMNS} FROM execution ${LIVE_JOINS}
  WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE OF execution SKIP LOCKED`
const EXPIRING = `
  SELECT run_id, first_execution_id, total FROM run
  WHERE expire_at IS NOT NULL AND expire_at <= $1 AND NOT ended ORDER BY expire_at LIMIT $2`
const MISSED = `
  SELECT run_id, first_execution_id, total FROM run
  WHERE deadline_at IS NOT NULL AND deadline_at <= $1 AND NOT ended ORDER BY deadline_at LIMIT $2`
// A later attempt has a clock of its own for its wait.
const MAY_EXPIRE = `state = 'PENDING' AND attempt = 1`
// A cancel has a deadline of its own.
const MAY_MISS = `state < 'CANCELING'`
const ofRuns = (mayMove: string) => `
  SELECT ${LIVE_COLUMNS} FROM unnest($1::bigint[], $2::bigint[]) AS range (first, last)
    CROSS JOIN LATERAL (
      SELECT * FROM execution WHERE execution_id BETWEEN range.first AND range.last AND ${mayMove}
      ORDER BY execution_id LIMIT $3 FOR UPDATE SKIP LOCKED) AS execution ${LIVE_JOINS}
  LIMIT $3`
// What somebody else has locked right now is not done; the next call looks at it again.
const finish = (clock: string, mayMove: string) => `
  UPDATE run SET ${clock} = NULL FROM (
    SELECT run.run_id FROM unnest($1::bigint[]) AS looked_at (run_id) JOIN run USING (run_id)
    WHERE NOT ended AND NOT EXISTS (
      SELECT FROM execution
      WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 AND ${mayMove})
    FOR NO KEY UPDATE OF run SKIP LOCKED) AS done
  WHERE run.run_id = done.run_id`
const RUN = 'SELECT run_id, first_execution_id, total FROM run WHERE run_id = $1 AND owner_no = $2'
const UNFINISHED = `
  SELECT ${LIVE_COLUMNS} FROM execution ${LIVE_JOINS}
  WHERE execution_id BETWEEN $1 AND $2 AND state <= 'CANCELING'
  ORDER BY execution_id LIMIT $3 FOR UPDATE OF execution`

const bite = 1000

type RunClock = {
  event: 'expire' | 'miss-deadline'
  find: string
  executions: string
  finish: string
  /** As the statements say it. */
  mayMove: (life: Life) => boolean
}
const runClocks: RunClock[] = [
  {
    event: 'expire',
    find: EXPIRING,
    executions: ofRuns(MAY_EXPIRE),
    finish: finish('expire_at', MAY_EXPIRE),
    mayMove: ({ execState, attempt }) => execState === 'PENDING' && attempt === 1,
  },
  {
    event: 'miss-deadline',
    find: MISSED,
    executions: ofRuns(MAY_MISS),
    finish: finish('deadline_at', MAY_MISS),
    mayMove: ({ execState }) => execState === 'PENDING' || execState === 'IN_PROGRESS',
  },
]

export function buildClockSteps(db: Database, policies: Policies): Pick<Store, 'fireClocks' | 'moveRun'> {
  const places = new Places()

  function fireDue(moves: Moves, due: LiveExecution[], moment: Moment): Moved[] {
    return due.map((execution) => {
      const event = dueEvent(execution.life)
      if (event === 'rest-over') return moves.endRest(execution, moment)
      const after = moves.move(execution, event, moment, 'clock')
      if (after === undefined) throw new Error(`${event} does not move ${execution.life.execState}`)
      return after.moved
    })
  }

  /** A clock that all executions of a run share; small runs share a bite. `lookedAt`: those it is through with. */
  async function fireRuns(transaction: Queries, moves: Moves, clock: RunClock, moment: Moment) {
    const { event } = clock
    const runs = (await transaction.query(clock.find, [moment.clock, bite])).map(toRange)
    if (runs.length === 0) return { moved: [], lookedAt: [], more: false }
    const found = await moves.lock(clock.executions, [
      numbers(runs.map((run) => places.get(event, run))),
      numbers(runs.map(({ last }) => last)),
      bite,
    ])
    const moved = found
      .filter(({ life }) => clock.mayMove(life))
      .flatMap((each) => moves.move(each, event, moment, 'clock')?.moved ?? [])
    const isFull = found.length === bite
    const lookedAt = places.advance(event, runs, isFull ? found.at(-1) : undefined)
    return { moved, lookedAt, more: moved.length > 0 && (isFull || runs.length === bite) }
  }

  return {
    fireClocks(moment) {
      return db.inTransaction(async (transaction) => {
        const moves = new Moves(transaction, policies)
        const due = await moves.lock(DUE, [moment.clock, bite])
        const all = fireDue(moves, due, moment)
        let more = due.length === bite
        const finishes: [string, number[]][] = []
        for (const clock of runClocks) {
          const fired = await fireRuns(transaction, moves, clock, moment)
          all.push(...fired.moved)
          more ||= fired.more
          if (fired.lookedAt.length > 0) finishes.push([clock.finish, fired.lookedAt])
        }
        moves.write()
        for (const [sql, runIds] of finishes) transaction.send(sql, [numbers(runIds)])
        return { moved: all, more }
      })
    },
    moveRun({ ownerNo, runId, from, event, moment, actor }) {
      return db.inTransaction((transaction) =>
        moving(transaction, policies, async (moves) => {
          const [row] = await transaction.query(RUN, [runId, ownerNo])
          if (row === undefined) return undefined
          const { first, last } = toRange(row)
          const found = await moves.lock(UNFINISHED, [from ?? first, last, bite])
          const moved = found.flatMap((each) => moves.move(each, event, moment, actor)?.moved ?? [])
          const next = found.length < bite ? undefined : (found.at(-1)?.jobExecutionId ?? last) + 1
          return { moved, next }
        }),
      )
    },
  }
}

type Range = { runId: number; first: number; last: number }

/** Where the next bite of a run that is larger than one begins. It saves time; nothing else depends on it. */
class Places {
  readonly #places = new Map<string, number>()

  get(event: string, { runId, first }: Range): number {
    return this.#places.get(`${event} ${runId}`) ?? first
  }

  /** Gives the runs that were looked at to their end; `last` is where a full bite has ended. */
  advance(event: string, runs: Range[], last: LiveExecution | undefined): number[] {
    const through = last ? runs.findIndex(({ runId }) => runId === last.runId) : runs.length
    const ended = runs.slice(0, through).map(({ runId }) => runId)
    for (const runId of ended) this.#places.delete(`${event} ${runId}`)
    if (last) this.#places.set(`${event} ${last.runId}`, last.jobExecutionId + 1)
    return ended
  }
}

function toRange(row: Row): Range {
  const first = row.first_execution_id as number
  return { runId: row.run_id as number, first, last: first + (row.total as number) - 1 }
}
