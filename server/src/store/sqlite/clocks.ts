// Moves what a clock has run out for. A bite at a time: between two of them the writer gets to everybody else.

import type { DatabaseSync } from 'node:sqlite'
import { afterRest, dueEvent, type ExecutionEvent, type Moment } from '../../domain/execution.ts'
import {
  LIVE_COLUMNS,
  type LiveExecution,
  type MovedExecution,
  type Moves,
  movedOf,
  toLive,
} from './moves.ts'

const DUE = `${LIVE_COLUMNS} WHERE due_at <= ? ORDER BY due_at LIMIT ?`
const EXPIRING = `
  SELECT run_id, first_execution_id, total FROM run
  WHERE expire_at IS NOT NULL AND expire_at <= ? AND pending > 0 ORDER BY expire_at LIMIT 1`
const MISSED = `
  SELECT run_id, first_execution_id, total FROM run
  WHERE deadline_at IS NOT NULL AND deadline_at <= ? AND pending + in_progress + canceling > 0
  ORDER BY deadline_at LIMIT 1`
const RUN = 'SELECT run_id, first_execution_id, total FROM run WHERE run_id = ? AND owner_no = ?'
const UNFINISHED = `
  ${LIVE_COLUMNS} WHERE execution_id BETWEEN ? AND ? AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ?`
const EXPIRED = 'UPDATE run SET expire_at = NULL WHERE run_id = ?'
const IN_TIME = 'UPDATE run SET deadline_at = NULL WHERE run_id = ?'
const REST_OVER = 'UPDATE execution SET not_before = NULL, due_at = ? WHERE execution_id = ?'

// Takes the writer about 20 ms.
const bite = 1000

export type RunMove = {
  ownerNo: number
  runId: number
  /** The id to go on at. */
  from: number | undefined
  event: ExecutionEvent
  moment: Moment
  actor: string
}

export function prepareClocks(db: DatabaseSync, { move, policyOf }: Moves) {
  const due = db.prepare(DUE)
  const expiring = db.prepare(EXPIRING)
  const missed = db.prepare(MISSED)
  const oneRun = db.prepare(RUN)
  const unfinished = db.prepare(UNFINISHED)
  const setExpired = db.prepare(EXPIRED)
  const setInTime = db.prepare(IN_TIME)
  const endRest = db.prepare(REST_OVER)
  /** Where the next bite of a run that is larger than one begins. Lost in a crash, which costs only time. */
  const places = new Map<string, number>()

  function restOver(execution: LiveExecution, moment: Moment): MovedExecution {
    const { life } = execution
    endRest.run(afterRest(life, policyOf(execution.jobVersion), moment.clock).dueAt, execution.jobExecutionId)
    return { ...movedOf(execution, life.execState), resting: false }
  }

  function fireDue(moment: Moment): MovedExecution[] {
    return due.all(moment.clock, bite).map((row) => {
      const execution = toLive(row)
      const event = dueEvent(execution.life)
      if (event === 'rest-over') return restOver(execution, moment)
      const after = move(execution, event, moment, 'clock')
      if (after === undefined) throw new Error(`${event} does not move ${execution.life.execState}`)
      return after.moved
    })
  }

  /** Moves those of the next bite that `matches`; `next` is where the bite after it begins. */
  function moveBite(
    run: { first_execution_id?: unknown; total?: unknown },
    from: number | undefined,
    matches: (execution: LiveExecution) => boolean,
    { event, moment, actor }: Pick<RunMove, 'event' | 'moment' | 'actor'>,
    size = bite,
  ): { moved: MovedExecution[]; looked: number; next: number | undefined } {
    const first = run.first_execution_id as number
    const last = first + (run.total as number) - 1
    const rows = unfinished.all(from ?? first, last, size).map(toLive)
    const moved = rows.filter(matches).flatMap((each) => move(each, event, moment, actor)?.moved ?? [])
    const next = rows.length < size ? undefined : (rows.at(-1)?.jobExecutionId ?? last) + 1
    return { moved, looked: rows.length, next }
  }

  /** A clock that all executions of a run share; small runs share a bite. */
  function fireRuns(
    find: typeof expiring,
    finish: typeof setExpired,
    event: 'expire' | 'miss-deadline',
    moment: Moment,
  ): MovedExecution[] {
    // A later attempt has a clock of its own for its wait.
    const matches = ({ life }: LiveExecution) => event !== 'expire' || life.attempt === 1
    const all: MovedExecution[] = []
    for (let room = bite; room > 0; ) {
      const run = find.get(moment.clock)
      if (run === undefined) break
      const key = `${event} ${run.run_id}`
      const by = { event, moment, actor: 'clock' }
      const { moved, looked, next } = moveBite(run, places.get(key), matches, by, room)
      all.push(...moved)
      room -= Math.max(1, looked)
      if (next === undefined) {
        places.delete(key)
        finish.run(run.run_id as number)
      } else places.set(key, next)
    }
    return all
  }

  return {
    fireClocks(moment: Moment): { moved: MovedExecution[]; more: boolean } {
      const byThemselves = fireDue(moment)
      const expired = fireRuns(expiring, setExpired, 'expire', moment)
      const tooLate = fireRuns(missed, setInTime, 'miss-deadline', moment)
      const more =
        byThemselves.length === bite ||
        expiring.get(moment.clock) !== undefined ||
        missed.get(moment.clock) !== undefined
      return { moved: [...byThemselves, ...expired, ...tooLate], more }
    },
    /** For when the transaction of a call is taken back: it has come to none of them. */
    forgetPlaces: () => places.clear(),
    moveRun(input: RunMove): { moved: MovedExecution[]; next: number | undefined } | undefined {
      const run = oneRun.get(input.runId, input.ownerNo)
      if (run === undefined) return undefined
      const { moved, next } = moveBite(run, input.from, () => true, input)
      return { moved, next }
    },
  }
}
