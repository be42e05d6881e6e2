// What the clocks that have run out do to the executions that were loaded for them.

import { dueEvent, isEndedBy, type Moment, type RunClock } from './execution.ts'
import type { LiveExecution } from './execution-move.ts'
import { batchSize, type MoveBatch } from './move-batch.ts'
import type { Moved } from './ports/executions.ts'

export const runClocks: readonly RunClock[] = ['expire', 'miss-deadline']

/** The ids of a run's executions, or of those that were released at once. */
type RunRange = { runId: number; first: number; last: number }

/** Whose clock it is: that of a run, or that of a release of some of its executions. */
export type ClockSource = 'run' | 'release'

/** What a store has loaded: of each list no more than a batch, in the order in which it is to be moved. */
type DueExecutions = {
  /** Those whose own clock has run out. */
  own: LiveExecution[]
  /** Those whose progress was held back and may be written as an event now. */
  held: LiveExecution[]
  /** Runs whose clock has run out, and what that ends of them from where the cursor stands. */
  ofRuns: { clock: RunClock; source: ClockSource; runs: RunRange[]; executions: LiveExecution[] }[]
}

type FiredClocks = {
  moved: Moved[]
  more: boolean
  /** Those that a clock is through with. */
  finished: { clock: RunClock; source: ClockSource; runs: RunRange[] }[]
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
  for (const { clock, source, runs, executions } of due.ofRuns) {
    const ended = batch.load(executions).filter(({ life }) => isEndedBy(clock, life))
    moved.push(...batch.moveAll(ended, { event: clock, moment, actor: 'clock' }))
    const isFull = executions.length === batchSize
    const done = cursors.advance(clock, runs, isFull ? executions.at(-1) : undefined)
    if (done.length > 0) finished.push({ clock, source, runs: done })
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

  firstOf(clock: RunClock, range: RunRange): number {
    return this.#positions.get(nameOf(clock, range)) ?? range.first
  }

  /** Gives the runs that are done to their end; `last` is where a full batch has ended. */
  advance(clock: RunClock, runs: RunRange[], last: LiveExecution | undefined): RunRange[] {
    const id = last?.jobExecutionId ?? 0
    const through = last ? runs.findIndex((run) => run.first <= id && id <= run.last) : runs.length
    const done = runs.slice(0, through)
    for (const run of done) this.#positions.delete(nameOf(clock, run))
    const current = runs[through]
    if (current) this.#positions.set(nameOf(clock, current), id + 1)
    return done
  }

  clear(): void {
    this.#positions.clear()
  }
}

function nameOf(clock: RunClock, { runId, first }: RunRange): string {
  return `${clock} ${runId} ${first}`
}
