// Determines whether a transaction was committed if the connection is lost before the response to COMMIT. Every writing
// transaction increments a row, its marker, as its last statement; no two transactions use one marker at once. Afterwards the
// marker is read on another connection. If the count is still the old one, it is incremented there: if the server process of
// the first connection reaches its end later, it finds the changed count and rolls back. Unlike pg_xact_status, this also works
// after a crash or a failover, when a transaction id may be reused.

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DatabaseWatch } from '../../state/database-watch.ts'
import { flag, number, orNull, rows } from '../schema/column.ts'
import { connectionOptions } from './connect.ts'

// Read-only transactions do not increment a marker, so their commit does not wait for the disk.
const isWriting = 'pg_current_xact_id_if_assigned() IS NOT NULL'
/** Fails, and with it the transaction, if the marker was incremented elsewhere. */
export const COUNT_UP = `
  WITH counted AS (
    INSERT INTO commit_marker (marker_id, node_no, commits)
    SELECT CAST(:markerId AS bigint), CAST(:nodeNo AS int), CAST(:commits AS bigint) + 1 WHERE ${isWriting}
    ON CONFLICT (marker_id) DO UPDATE SET commits = excluded.commits WHERE commit_marker.commits <= CAST(:commits AS bigint)
    RETURNING 1)
  SELECT CASE WHEN ${isWriting} THEN 1 / (SELECT count(*) FROM counted) ELSE 0 END = 1 AS "isWritten"` as const
export const COUNTED = rows({ isWritten: flag() })
/** The same as a part of a statement that always writes and has its first ids in `ids`. */
export const countUpWithIds = `
    INSERT INTO commit_marker AS marker (marker_id, node_no, commits, run_id, execution_id)
    SELECT CAST(:markerId AS bigint), CAST(:nodeNo AS int), CAST(:commits AS bigint) + 1, run_id, execution_id FROM ids
    ON CONFLICT (marker_id) DO UPDATE SET commits = excluded.commits, run_id = excluded.run_id,
      execution_id = excluded.execution_id
    WHERE marker.commits <= CAST(:commits AS bigint) RETURNING 1`
// Waits for a transaction that has incremented it and is about to commit.
const CLAIM_NEW = `
  INSERT INTO commit_marker (marker_id, node_no, commits) VALUES ($1, $2, $3::bigint + 1)
  ON CONFLICT (marker_id) DO NOTHING RETURNING 1`
const IDS =
  'SELECT run_id AS "runId", execution_id AS "jobExecutionId" FROM commit_marker WHERE marker_id = $1'
const FIRST_IDS = rows({ runId: orNull(number()), jobExecutionId: orNull(number()) })
const CLAIM =
  'UPDATE commit_marker SET commits = $2::bigint + 1 WHERE marker_id = $1 AND commits <= $2 RETURNING 1'

/** How long to wait for the database after a lost connection. */
const limitMs = 5000
/** The same if an earlier wait was unsuccessful. */
const awayLimitMs = 1000
const pauseMs = 100

export type Marker = { readonly markerId: number; readonly nodeNo: number; commits: number }

/** With the ids that were stored with the marker, by this transaction or by an earlier one. */
type Outcome =
  | { kind: 'committed'; ids: ReturnType<typeof FIRST_IDS.read> }
  | { kind: 'rolled-back' | 'unknown' }

export class CommitMarkers {
  readonly #url: string
  readonly #nodeNo: number
  readonly #watch: Pick<DatabaseWatch, 'isAway'>
  readonly #free: Marker[] = []

  constructor(url: string, nodeNo: number, watch: Pick<DatabaseWatch, 'isAway'>) {
    this.#url = url
    this.#nodeNo = nodeNo
    this.#watch = watch
  }

  take(): Marker {
    return this.#free.pop() ?? { markerId: randomInt(2 ** 47), nodeNo: this.#nodeNo, commits: 0 }
  }

  /** Allows reuse of the marker. A marker whose last outcome is unknown must not be given back. */
  giveBack(marker: Marker): void {
    this.#free.push(marker)
  }

  /** A transaction with this marker was committed, or can no longer be. */
  countUp(marker: Marker): void {
    marker.commits++
  }

  /** The outcome of a transaction with this marker whose COMMIT was sent and not answered. */
  async findOutcome(marker: Marker): Promise<Outcome> {
    const until = performance.now() + (this.#watch.isAway ? awayLimitMs : limitMs)
    for (;;) {
      try {
        const outcome = await this.#ask(marker, until - performance.now())
        this.countUp(marker)
        return outcome
      } catch {
        // The database does not respond, or the transaction has not ended yet.
        if (performance.now() + pauseMs >= until) return { kind: 'unknown' }
        await sleep(pauseMs)
      }
    }
  }

  async #ask({ markerId, nodeNo, commits }: Marker, withinMs: number): Promise<Outcome> {
    const ms = Math.ceil(withinMs)
    const client = new pg.Client({
      ...connectionOptions(this.#url, { statement_timeout: `${ms}` }),
      connectionTimeoutMillis: ms,
      query_timeout: ms,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const isNew = await client.query(CLAIM_NEW, [markerId, nodeNo, commits])
      // A marker that was used before exists, unless this node was removed as dead, which deletes its markers.
      if (isNew.rowCount === 1) return { kind: commits === 0 ? 'rolled-back' : 'unknown' }
      const claimed = await client.query(CLAIM, [markerId, commits])
      if (claimed.rowCount === 1) return { kind: 'rolled-back' }
      const noted = await client.query(IDS, [markerId])
      return { kind: 'committed', ids: FIRST_IDS.read(noted.rows[0]) }
    } finally {
      void client.end().catch(() => undefined)
    }
  }
}
