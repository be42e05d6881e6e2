// The one engine that moves executions, for both stores. A store loads executions (PostgreSQL locks them, in the order of
// their ids), the batch applies moves by the rules of execution-move.ts, and the store writes the result.

import type { SteadyInstant } from '../common/instants.ts'
import { countMoves, type RunChange } from '../trigger/run-counts.ts'
import type { OutputState } from './device-report.ts'
import { afterHold, type Policy } from './execution.ts'
import {
  applyMove,
  type ExecutionChange,
  type LiveExecution,
  type Move,
  type MoveEffects,
  type NewTransition,
  offerAgain,
  writeHeldProgress,
} from './execution-move.ts'
import type { OutputPiece } from './keep-output.ts'
import type { ExecutionMove, Moved, MoveOutcome } from './ports/executions.ts'

/** How many executions one step loads. SQLite's writer takes about 20 ms for them; others get between two batches. */
export const batchSize = 1000

type PolicyOf = (jobVersion: number) => Policy

/** How long the execution was held back in the wait that ends at this instant. */
type HeldMsOf = (execution: LiveExecution, until: SteadyInstant) => number

/** What a store has to write in one transaction. Executions and runs are in the order of their ids. */
export type MoveWrites = {
  /** As they are now. */
  executions: LiveExecution[]
  /** Ids of executions of which only version, time, details and report marks have changed. */
  progressed: ReadonlySet<number>
  /** Executions of which only the length of the output has changed. */
  withOutput: LiveExecution[]
  pieces: OutputPiece[]
  /** Outputs to delete, because the device will produce them again. */
  droppedOutputs: { jobExecutionId: number; attempt: number }[]
  /** For outputs with secrets, one per execution. */
  outputStates: OutputState[]
  transitions: NewTransition[]
  changes: ExecutionChange[]
  runs: RunChange[]
  /** Moves that may have changed a device's queue, and the ids of those that are delayed now. */
  moved: Moved[]
  delayedIds: number[]
}

export class MoveBatch {
  readonly #policyOf: PolicyOf
  readonly #heldMsOf: HeldMsOf
  /** The current versions. */
  readonly #live = new Map<number, LiveExecution>()
  /** Changed executions as they were loaded, if they were. */
  readonly #changed = new Map<number, LiveExecution | undefined>()
  readonly #withOutput = new Set<number>()
  #pieces: OutputPiece[] = []
  readonly #droppedOutputs: MoveWrites['droppedOutputs'] = []
  readonly #outputStates = new Map<number, OutputState>()
  readonly #transitions: NewTransition[] = []
  readonly #changes: ExecutionChange[] = []
  readonly #moves: { moved: Moved; at: number }[] = []
  readonly #moved: Moved[] = []

  constructor(policyOf: PolicyOf, heldMsOf: HeldMsOf) {
    this.#policyOf = policyOf
    this.#heldMsOf = heldMsOf
  }

  /** Adds loaded executions. Returns the current version of those that are in the batch already. */
  load(found: LiveExecution[]): LiveExecution[] {
    return found.map((each) => {
      const loaded = this.#live.get(each.jobExecutionId)
      if (loaded === undefined) this.#live.set(each.jobExecutionId, each)
      return loaded ?? each
    })
  }

  /** The current version of a loaded execution. */
  find(jobExecutionId: number): LiveExecution | undefined {
    return this.#live.get(jobExecutionId)
  }

  /** Undefined when the state does not allow the event. */
  move(before: LiveExecution, move: Move): MoveEffects | undefined {
    const effects = applyMove(this.#afterHold(before, move), this.#policyOf(before.jobVersion), move)
    if (effects === undefined) return undefined
    const { execution, transition, changes, moved } = effects
    this.#set(execution)
    if (move.event === 'not-now' && before.outputBytes > 0) this.#dropOutput(before)
    if (transition) this.#transitions.push(transition)
    this.#changes.push(...changes)
    this.#moves.push({ moved, at: move.moment.at })
    if (move.event !== 'progress') this.#moved.push(moved)
    return effects
  }

  #afterHold(before: LiveExecution, { moment }: Move): LiveExecution {
    const { execState, deadlineAt } = before.life
    if (execState !== 'PENDING' || deadlineAt === null) return before
    const heldMs = this.#heldMsOf(before, moment.clock)
    return heldMs === 0 ? before : { ...before, life: afterHold(before.life, heldMs) }
  }

  /** Sets its own clock. */
  postpone(before: LiveExecution, dueAt: SteadyInstant): void {
    this.#set({ ...before, life: { ...before.life, dueAt } })
  }

  /** Moves those whose state allows it. */
  moveAll(executions: LiveExecution[], move: Move): Moved[] {
    return executions.flatMap((execution) => this.move(execution, move)?.moved ?? [])
  }

  /** Moves one execution of an owner. */
  moveOwn({
    ownerNo,
    jobExecutionId,
    ...move
  }: ExecutionMove): Exclude<MoveOutcome, { kind: 'moved' }> | { kind: 'moved'; moved: Moved } {
    const before = this.find(jobExecutionId)
    if (before === undefined || before.ownerNo !== ownerNo) return { kind: 'unknown-execution' }
    const moved = this.move(before, move)?.moved
    return moved ? { kind: 'moved', moved } : { kind: 'refused', execState: before.life.execState }
  }

  offerAgain(before: LiveExecution, moment: Move['moment']): Moved {
    const { execution, moved } = offerAgain(before, this.#policyOf(before.jobVersion), moment)
    this.#set(execution)
    this.#moved.push(moved)
    return moved
  }

  /** Does nothing if it was written since the execution was loaded. */
  writeHeldProgress(before: LiveExecution, moment: Move['moment']): void {
    if (!before.progressHeld) return
    const { execution, change } = writeHeldProgress(before, moment)
    this.#set(execution)
    this.#changes.push(change)
  }

  mayHaveSecrets({ jobVersion }: LiveExecution): boolean {
    return this.#policyOf(jobVersion).mayHaveSecrets ?? false
  }

  keepOutput(execution: LiveExecution, piece: OutputPiece | undefined, state?: OutputState): void {
    this.#live.set(execution.jobExecutionId, execution)
    this.#withOutput.add(execution.jobExecutionId)
    if (piece) this.#pieces.push(piece)
    if (state) this.#outputStates.set(state.jobExecutionId, state)
  }

  get writes(): MoveWrites {
    const inOrder = (ids: Iterable<number>) =>
      [...ids].sort((one, other) => one - other).map((id) => this.#live.get(id) as LiveExecution)
    const executions = inOrder(this.#changed.keys())
    return {
      executions,
      progressed: new Set(this.#progressed()),
      withOutput: inOrder(this.#withOutput.difference(this.#changed)),
      pieces: this.#pieces,
      droppedOutputs: this.#droppedOutputs,
      outputStates: [...this.#outputStates.values()],
      transitions: this.#transitions,
      changes: this.#changes,
      runs: countMoves(this.#moves),
      moved: this.#moved,
      delayedIds: executions.filter(({ life }) => life.notBefore !== null).map((each) => each.jobExecutionId),
    }
  }

  #dropOutput({ jobExecutionId, life: { attempt } }: LiveExecution): void {
    this.#pieces = this.#pieces.filter((piece) => piece.jobExecutionId !== jobExecutionId)
    this.#droppedOutputs.push({ jobExecutionId, attempt })
  }

  *#progressed(): Iterable<number> {
    for (const [id, before] of this.#changed) {
      const after = this.#live.get(id) as LiveExecution
      if (before && !this.#withOutput.has(id) && isProgressOnly(before, after)) yield id
    }
  }

  #set(execution: LiveExecution): void {
    const { jobExecutionId } = execution
    if (!this.#changed.has(jobExecutionId)) this.#changed.set(jobExecutionId, this.#live.get(jobExecutionId))
    this.#live.set(jobExecutionId, execution)
  }
}

function isProgressOnly(before: LiveExecution, after: LiveExecution): boolean {
  const [was, is] = [before.life, after.life]
  return (
    was.execState === is.execState &&
    was.attempt === is.attempt &&
    was.startedAt === is.startedAt &&
    was.finishedAt === is.finishedAt &&
    was.notBefore === is.notBefore &&
    was.dueAt === is.dueAt &&
    before.notifiedAt === after.notifiedAt &&
    before.deliveredAt === after.deliveredAt &&
    before.cancelVersion === after.cancelVersion &&
    before.outputBytes === after.outputBytes &&
    before.outputCut === after.outputCut &&
    before.outputPieces === after.outputPieces &&
    before.progressAt === after.progressAt &&
    before.progressHeld === after.progressHeld &&
    before.progressBytes === after.progressBytes &&
    after.newResult === null
  )
}
