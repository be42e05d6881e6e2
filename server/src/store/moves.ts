// State changes of executions in a transaction (see domain/execution/move-batch.ts): both stores load and write them through `Writes`.

import type { SteadyInstant } from '../domain/common/instants.ts'
import type { LiveExecution } from '../domain/execution/execution-move.ts'
import { waitsFrom } from '../domain/execution/held-clocks.ts'
import { MoveBatch } from '../domain/execution/move-batch.ts'
import type { JobPolicy } from '../domain/job/ports/jobs.ts'
import { Holders } from './holders.ts'
import { LIVE, liveJoins } from './live-executions.ts'
import { inBoth, type Sql, type Values, type Writes } from './queries.ts'

// SQLite returns them in the requested order.
const BY_ID = inBoth(
  ({ is, join, wanted, lockExecution }) => `
  SELECT ${LIVE} FROM ${wanted('ids')} ${join} execution ON execution_id = wanted.id ${liveJoins(join)}
  ${is === 'postgres' ? 'ORDER BY execution_id' : ''} ${lockExecution}`,
)

export class Moves {
  readonly #queries: Writes
  readonly #policies = new Map<number, JobPolicy>()
  readonly holders: Holders
  readonly batch = new MoveBatch(
    (jobVersion) => this.policyOf(jobVersion),
    (execution, until) => this.#heldMs(execution, until),
  )

  constructor(queries: Writes) {
    this.#queries = queries
    this.holders = new Holders(queries)
  }

  /** Policies of loaded executions. */
  readonly policyOf = (jobVersion: number): JobPolicy => this.#policies.get(jobVersion) as JobPolicy

  async loadById(jobExecutionIds: Iterable<number>): Promise<LiveExecution[]> {
    const ids = [...new Set(jobExecutionIds)].sort((a, b) => a - b)
    return ids.length === 0 ? [] : this.load(BY_ID, { ids })
  }

  /** Loads the executions that a statement selects and, on PostgreSQL, locks; its columns are LIVE. */
  async load(sql: Sql, values: Values): Promise<LiveExecution[]> {
    return this.take(await this.#queries.loadExecutions(sql, values))
  }

  /** The current state of loaded executions. */
  async take(found: LiveExecution[]): Promise<LiveExecution[]> {
    const versions = new Set(found.map(({ jobVersion }) => jobVersion))
    const policyOf = await this.#queries.readPolicies(versions)
    for (const version of versions) this.#policies.set(version, policyOf(version))
    const loaded = this.batch.load(found)
    // The deadline of an execution that begins did not run while it was held back.
    await this.holders.read(
      loaded.filter(({ life }) => life.execState === 'PENDING' && life.deadlineAt !== null),
    )
    return loaded
  }

  #heldMs(execution: LiveExecution, until: SteadyInstant): number {
    const from = waitsFrom(execution.life, this.policyOf(execution.jobVersion))
    return from < until ? this.holders.heldMs(execution, from, until) : 0
  }
}

/** Writes all moves of the work at its end. */
export async function inBatch<Out>(queries: Writes, work: (moves: Moves) => Promise<Out>): Promise<Out> {
  const moves = new Moves(queries)
  const out = await work(moves)
  queries.writeMoves(moves.batch.writes)
  return out
}
