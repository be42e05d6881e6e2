// Whether a transaction was committed, when the connection is lost before COMMIT is answered. Every transaction that
// writes counts up a row, its marker, as its last statement; no two transactions use one marker at once. Whoever must
// know reads the marker on another connection. If the count is still the old one, it counts up the marker itself: should
// the first connection's server process yet get to its end, it finds the count changed and rolls back. Unlike
// pg_xact_status, this holds after a crash or a failover as well: a transaction id may then be given again.

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DatabaseWatch } from '../../state/database-watch.ts'
import { flag, number, orNull, rows } from '../schema/column.ts'
import { connectionOptions } from './connect.ts'

// Nothing is counted where nothing is written: such a commit need not wait for the disk.
const isWriting = 'pg_current_xact_id_if_assigned() IS NOT NULL'
/** Fails, and with it the transaction, when somebody else has counted up the marker. */
export const COUNT_UP = `
  WITH counted AS (
    INSERT INTO commit_marker (marker_id, node_no, commits)
    SELECT CAST(:markerId AS bigint), CAST(:nodeNo AS int), CAST(:commits AS bigint) + 1 WHERE ${isWriting}
    ON CONFLICT (marker_id) DO UPDATE SET commits = excluded.commits WHERE commit_marker.commits <= CAST(:commits AS bigint)
    RETURNING 1)
  SELECT CASE WHEN ${isWriting} THEN 1 / (SELECT count(*) FROM counted) ELSE 0 END = 1 AS "isWritten"` as const
export const COUNTED = rows({ isWritten: flag() })
/** The same as a part of a statement that is sure to write and has its first ids in `ids`. */
export const countUpWithIds = `
    INSERT INTO commit_marker AS marker (marker_id, node_no, commits, run_id, execution_id)
    SELECT CAST(:markerId AS bigint), CAST(:nodeNo AS int), CAST(:commits AS bigint) + 1, run_id, execution_id FROM ids
    ON CONFLICT (marker_id) DO UPDATE SET commits = excluded.commits, run_id = excluded.run_id,
      execution_id = excluded.execution_id
    WHERE marker.commits <= CAST(:commits AS bigint) RETURNING 1`
// Waits for a transaction that has counted it up and is about to commit.
const CLAIM_NEW = `
  INSERT INTO commit_marker (marker_id, node_no, commits) VALUES ($1, $2, $3::bigint + 1)
  ON CONFLICT (marker_id) DO NOTHING RETURNING 1`
const IDS =
  'SELECT run_id AS "runId", execution_id AS "jobExecutionId" FROM commit_marker WHERE marker_id = $1'
const FIRST_IDS = rows({ runId: orNull(number()), jobExecutionId: orNull(number()) })
const CLAIM =
  'UPDATE commit_marker SET commits = $2::bigint + 1 WHERE marker_id = $1 AND commits <= $2 RETURNING 1'

/** How long whoever has lost the connection waits for the database. */
const limitMs = 5000
/** The same where it has already been waited for. */
const awayLimitMs = 1000
const pauseMs = 100

export type Marker = { readonly markerId: number; readonly nodeNo: number; commits: number }

/** With the ids that were noted with the marker, by this transaction or by an earlier one. */
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

  /** May be used again. One whose last outcome is unknown must not be. */
  giveBack(marker: Marker): void {
    this.#free.push(marker)
  }

  /** A transaction was committed under it, or can no longer be. */
  countUp(marker: Marker): void {
    marker.commits++
  }

  /** Of a transaction whose COMMIT was sent under this marker and not answered. */
  async findOutcome(marker: Marker): Promise<Outcome> {
    const until = performance.now() + (this.#watch.isAway ? awayLimitMs : limitMs)
    for (;;) {
      try {
        const outcome = await this.#ask(marker, until - performance.now())
        this.countUp(marker)
        return outcome
      } catch {
        // The database is away, or the transaction has not ended yet.
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
      // One that was used before is there, unless this node was taken for dead: then its markers were deleted.
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
