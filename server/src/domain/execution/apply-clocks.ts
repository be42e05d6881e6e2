// Applies clocks that are due to the executions that a store has loaded for them.

import type { SteadyInstant } from '../common/instants.ts'
import type { JobPolicy } from '../job/ports/jobs.ts'
import type { Holder, OfferHistory } from '../window/offer-history.ts'
import { dueEvent, isEndedBy, type Moment, type RunClock } from './execution.ts'
import type { LiveExecution } from './execution-move.ts'
import { dueAt, type HeldClock, heldClockOf, ownExpiry, recheckAt, WaitingClocks } from './held-clocks.ts'
import { batchSize, type MoveBatch } from './move-batch.ts'
import type { Moved } from './ports/executions.ts'

export const runClocks: readonly RunClock[] = ['expire', 'miss-deadline']

/** The ids of a run's executions, or of those that were released together. */
export type RunRange = {
  runId: number
  first: number
  last: number
  /** Since when the expiry counts. */
  countsFrom: SteadyInstant | null
  /** Its owner has windows, or has frozen the fleet. */
  mayBeHeld: boolean
  /** How many executions of the run wait and how many are in progress. */
  counts: string
  /** Changes when windows of the owner's devices have changed. */
  windowsMark: string
}

/** Whose clock it is: that of a run, or that of a release of some of its executions. */
export type ClockSource = 'run' | 'release'

/** What windows and freezes hold back, for the loaded executions. */
type Holds = {
  policyOf(jobVersion: number): JobPolicy
  readonly holders: { readonly history: OfferHistory; of(execution: LiveExecution): Holder | undefined }
}

/** What a store has loaded: at most a batch per list, in the order of the moves. */
type DueExecutions = {
  /** Executions whose own clock is due. */
  own: LiveExecution[]
  /** Executions whose held-back progress may be written as an event now. */
  held: LiveExecution[]
  /** Runs whose clock is due, and the executions that it ends, from the cursor on. */
  ofRuns: { clock: RunClock; source: ClockSource; runs: RunRange[]; executions: LiveExecution[] }[]
}

type FiredClocks = {
  moved: Moved[]
  more: boolean
  /** Ranges that a clock has finished with. */
  finished: { clock: RunClock; source: ClockSource; runs: RunRange[] }[]
  /** Ranges in which `left` executions were held back and have time left. */
  postponed: { clock: RunClock; run: RunRange; next: SteadyInstant; left: number }[]
}

export function applyClocks(
  batch: MoveBatch,
  due: DueExecutions,
  cursors: RunCursors,
  holds: Holds,
  moment: Moment,
): FiredClocks {
  const moved = batch.load(due.own).flatMap((execution) => fireOwn(batch, execution, holds, moment))
  for (const execution of batch.load(due.held)) batch.writeHeldProgress(execution, moment)
  let more = due.own.length === batchSize || due.held.length === batchSize
  const finished: FiredClocks['finished'] = []
  const postponed: FiredClocks['postponed'] = []
  for (const { clock, source, runs, executions } of due.ofRuns) {
    const found = batch.load(executions).filter(({ life }) => isEndedBy(clock, life))
    const ended = found.filter((each) => isDue(clock, runs, each, cursors, holds, moment))
    moved.push(...batch.moveAll(ended, { event: clock, moment, actor: 'clock' }))
    const isFull = executions.length === batchSize
    const done = cursors.advance(clock, runs, isFull ? executions.at(-1) : undefined)
    const ends: RunRange[] = []
    for (const run of done) {
      const { next, left } = cursors.settle(clock, run)
      if (next === undefined) ends.push(run)
      else postponed.push({ clock, run, next, left })
    }
    if (ends.length > 0) finished.push({ clock, source, runs: ends })
    // If nothing moves, others have locked the rest: an immediate call would find the same again.
    const isHeld = ended.length < found.length
    more ||= (ended.length > 0 || isHeld) && (isFull || runs.length === batchSize)
  }
  return { moved, more, finished, postponed }
}

/** False if the execution was held back and has time left. */
function isDue(
  clock: RunClock,
  runs: RunRange[],
  execution: LiveExecution,
  cursors: RunCursors,
  { policyOf, holders }: Holds,
  moment: Moment,
): boolean {
  const { jobExecutionId: id, life, jobVersion } = execution
  const run = runs.find(({ first, last }) => first <= id && id <= last)
  if (!run?.mayBeHeld) return true
  const held = heldClockOf(clock, life, policyOf(jobVersion), run.countsFrom, holders.of(execution))
  if (held === undefined || dueAt(held, holders.history, moment.clock) <= moment.clock) return true
  cursors.wait(clock, run, held, holders.history, moment.clock)
  return false
}

function fireOwn(
  batch: MoveBatch,
  execution: LiveExecution,
  { policyOf, holders }: Holds,
  moment: Moment,
): Moved[] {
  const event = dueEvent(execution.life)
  if (event === 'retry-due') return [batch.offerAgain(execution, moment)]
  if (event === 'expire') {
    const own = ownExpiry(execution.life, policyOf(execution.jobVersion), holders.of(execution))
    if (own?.holder && dueAt(own, holders.history, moment.clock) > moment.clock) {
      batch.postpone(execution, recheckAt(own, holders.history, moment.clock))
      return []
    }
  }
  const after = batch.move(execution, { event, moment, actor: 'clock' })
  if (after === undefined) throw new Error(`${event} does not move ${execution.life.execState}`)
  return [after.moved]
}

/** For how many ranges waiting clocks are cached; without the cache, a whole range is checked again. */
const keptRanges = 10_000

type Remembered = { clocks: WaitingClocks } & Pick<RunRange, 'counts' | 'windowsMark'>

/** Cursors for runs that are larger than a batch. Lost in a crash, which costs only time. */
export class RunCursors {
  readonly #positions = new Map<string, number>()
  /** Executions with time left, in ranges being checked (`#walked`) and in ranges checked before (`#waiting`). */
  readonly #walked = new Map<string, { clocks: WaitingClocks; left: number }>()
  readonly #waiting = new Map<string, Remembered>()

  firstOf(clock: RunClock, range: RunRange): number {
    return this.#positions.get(nameOf(clock, range)) ?? range.first
  }

  /** Returns the runs that were processed to their end; `last` is the last execution of a full batch. */
  advance(clock: RunClock, runs: RunRange[], last: LiveExecution | undefined): RunRange[] {
    const id = last?.jobExecutionId ?? 0
    const through = last ? runs.findIndex((run) => run.first <= id && id <= run.last) : runs.length
    const done = runs.slice(0, through)
    for (const run of done) this.#positions.delete(nameOf(clock, run))
    const current = runs[through]
    if (current) this.#positions.set(nameOf(clock, current), id + 1)
    return done
  }

  wait(clock: RunClock, run: RunRange, held: HeldClock, history: OfferHistory, now: SteadyInstant): void {
    const name = nameOf(clock, run)
    const walked = this.#walked.get(name) ?? { clocks: new WaitingClocks(), left: 0 }
    walked.clocks.add(held, history, now)
    walked.left++
    this.#walked.set(name, walked)
  }

  /** The whole range was checked: returns when to check again, and how many executions have time left. */
  settle(clock: RunClock, run: RunRange): { next: SteadyInstant | undefined; left: number } {
    const name = nameOf(clock, run)
    const walked = this.#walked.get(name)
    this.#walked.delete(name)
    if (this.#waiting.size >= keptRanges) this.#waiting.clear()
    if (walked) {
      const { counts, windowsMark } = run
      this.#waiting.set(name, { clocks: walked.clocks, counts, windowsMark })
    } else this.#waiting.delete(name)
    return { next: walked?.clocks.next, left: walked?.left ?? 0 }
  }

  /** Cached clocks of a range that was checked completely. Invalid for deadlines once counts change: a start ends the hold. */
  waitingIn(clock: RunClock, run: RunRange): WaitingClocks | undefined {
    const name = nameOf(clock, run)
    const waiting = this.#waiting.get(name)
    if (waiting === undefined || this.#positions.has(name)) return undefined
    if (waiting.windowsMark !== run.windowsMark) return undefined
    return clock === 'expire' || waiting.counts === run.counts ? waiting.clocks : undefined
  }

  forget(clock: RunClock, run: RunRange): void {
    this.#waiting.delete(nameOf(clock, run))
  }

  clear(): void {
    this.#positions.clear()
    this.#walked.clear()
    this.#waiting.clear()
  }
}

function nameOf(clock: RunClock, { runId, first }: RunRange): string {
  return `${clock} ${runId} ${first}`
}
