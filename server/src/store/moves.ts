// The executions that a transaction moves (see domain/execution/move-batch.ts): both stores load and write them through `Writes`.

import type { LiveExecution } from '../domain/execution/execution-move.ts'
import { MoveBatch } from '../domain/execution/move-batch.ts'
import type { JobPolicy } from '../domain/job/ports/jobs.ts'
import { LIVE, liveJoins } from './live-executions.ts'
import { inBoth, type Sql, type Values, type Writes } from './queries.ts'

// SQLite finds them in the order in which they are asked for.
const BY_ID = inBoth(
  ({ is, join, wanted, lockExecution }) => `
  SELECT ${LIVE} FROM ${wanted('ids')} ${join} execution ON execution_id = wanted.id ${liveJoins(join)}
  ${is === 'postgres' ? 'ORDER BY execution_id' : ''} ${lockExecution}`,
)

export class Moves {
  readonly #queries: Writes
  readonly #policies = new Map<number, JobPolicy>()
  readonly batch = new MoveBatch((jobVersion) => this.#policies.get(jobVersion) as JobPolicy)

  constructor(queries: Writes) {
    this.#queries = queries
  }

  async loadById(jobExecutionIds: Iterable<number>): Promise<LiveExecution[]> {
    const ids = [...new Set(jobExecutionIds)].sort((a, b) => a - b)
    return ids.length === 0 ? [] : this.load(BY_ID, { ids })
  }

  /** Those that a statement finds and, on PostgreSQL, locks; as LIVE. */
  async load(sql: Sql, values: Values): Promise<LiveExecution[]> {
    return this.take(await this.#queries.loadExecutions(sql, values))
  }

  /** Those that are loaded, as they are by now. */
  async take(found: LiveExecution[]): Promise<LiveExecution[]> {
    const versions = new Set(found.map(({ jobVersion }) => jobVersion))
    const policyOf = await this.#queries.readPolicies(versions)
    for (const version of versions) this.#policies.set(version, policyOf(version))
    return this.batch.load(found)
  }
}

/** Whatever the work moves is written at its end. */
export async function inBatch<Out>(queries: Writes, work: (moves: Moves) => Promise<Out>): Promise<Out> {
  const moves = new Moves(queries)
  const out = await work(moves)
  queries.writeMoves(moves.batch.writes)
  return out
}
