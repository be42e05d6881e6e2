// What the clocks that have run out do to the executions that were loaded for them.

import { dueEvent, isEndedBy, type Moment, type RunClock } from './execution.ts'
import type { LiveExecution } from './execution-move.ts'
import { batchSize, type MoveBatch } from './move-batch.ts'
import type { Moved } from './ports/executions.ts'

export const runClocks: readonly RunClock[] = ['expire', 'miss-deadline']

/** The ids of a run's executions. */
export type RunRange = { runId: number; first: number; last: number }

/** What a store has loaded: of each list no more than a batch, in the order in which it is to be moved. */
export type DueExecutions = {
  /** Those whose own clock has run out. */
  own: LiveExecution[]
  /** Those whose progress was held back and may be written as an event now. */
  held: LiveExecution[]
  /** Runs whose clock has run out, and what that ends of them from where the cursor stands. */
  ofRuns: { clock: RunClock; runs: RunRange[]; executions: LiveExecution[] }[]
}

export type FiredClocks = {
  moved: Moved[]
  more: boolean
  /** Runs that a clock is through with. */
  finished: { clock: RunClock; runIds: number[] }[]
}

export function applyClocks(
  batch: MoveBatch,
  due: DueExecutions,
  cursors: RunCursors,
  moment: Moment,
): FiredClocks {
  const moved = batch.load(due.own).map((execution) => fireOwn(batch, execution, moment))
  for (const execution of batch.load(due.held)) batch.writeHeldProgress(execution, moment)
  let more = due.own.length === batchSize || due.held.length === batchSize
  const finished: FiredClocks['finished'] = []
  for (const { clock, runs, executions } of due.ofRuns) {
    const ended = batch.load(executions).filter(({ life }) => isEndedBy(clock, life))
    moved.push(...batch.moveAll(ended, { event: clock, moment, actor: 'clock' }))
    const isFull = executions.length === batchSize
    const runIds = cursors.advance(clock, runs, isFull ? executions.at(-1) : undefined)
    if (runIds.length > 0) finished.push({ clock, runIds })
    // Where nothing moves, others hold the rest right now: a call right away would find the same again.
    more ||= ended.length > 0 && (isFull || runs.length === batchSize)
  }
  return { moved, more, finished }
}

function fireOwn(batch: MoveBatch, execution: LiveExecution, moment: Moment): Moved {
  const event = dueEvent(execution.life)
  if (event === 'retry-due') return batch.offerAgain(execution, moment)
  const after = batch.move(execution, { event, moment, actor: 'clock' })
  if (after === undefined) throw new Error(`${event} does not move ${execution.life.execState}`)
  return after.moved
}

/** Where the next batch of a run that is larger than one begins. Lost in a crash, which costs only time. */
export class RunCursors {
  readonly #positions = new Map<string, number>()

  firstOf(clock: RunClock, { runId, first }: RunRange): number {
    return this.#positions.get(`${clock} ${runId}`) ?? first
  }

  /** Gives the runs that are done to their end; `last` is where a full batch has ended. */
  advance(clock: RunClock, runs: RunRange[], last: LiveExecution | undefined): number[] {
    const through = last ? runs.findIndex(({ runId }) => runId === last.runId) : runs.length
    const done = runs.slice(0, through).map(({ runId }) => runId)
    for (const runId of done) this.#positions.delete(`${clock} ${runId}`)
    if (last) this.#positions.set(`${clock} ${last.runId}`, last.jobExecutionId + 1)
    return done
  }

  clear(): void {
    this.#positions.clear()
  }
}
