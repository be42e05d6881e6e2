// A statement that is a transaction by itself, without BEGIN and COMMIT, so it takes one round trip to the database. It
// increments its marker itself (commit-markers.ts).

import pg from 'pg'
import { CommitUnknown, StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { json, number, orNull, rows } from '../schema/column.ts'
import type { Marker } from './commit-markers.ts'
import { failureOf, isLockTimeout } from './failures.ts'
import type { CommitCheck, FirstIds } from './transaction.ts'

/**
 * For triggers with keys. `made`: the position of each trigger that created a run, and its ids. `used`: the position of each trigger
 * whose key was used before, the run of the earlier call, and the hash of its request.
 */
export type Launched = FirstIds & { made: Made[] | null; used: Used[] | null }
type Made = [position: number, runId: number, firstExecutionId: number]
type Used = [position: number, runId: number, requestHash: string]
const LAUNCHED = rows({
  runId: orNull(number()),
  jobExecutionId: orNull(number()),
  made: orNull(json<Made[]>()),
  used: orNull(json<Used[]>()),
})

/** Increments the marker, and returns the first assigned ids, if it creates runs. */
export type LoneStatement = (marker: Marker) => pg.QueryConfig

/** `discard`: the connection must not be used again, even if the statement took effect. */
export async function launchAlone(
  client: pg.ClientBase,
  statement: LoneStatement,
  { markers, marker }: CommitCheck,
  discard: () => void,
): Promise<Launched> {
  try {
    const [row] = (await client.query(statement(marker))).rows
    const { runId, jobExecutionId, made, used } = LAUNCHED.read(row)
    if (runId === null || jobExecutionId === null) return { runId: 0, jobExecutionId: 0, made: [], used }
    markers.countUp(marker)
    return { runId, jobExecutionId, made, used }
  } catch (error) {
    const failure = failureOf(error)
    if (!(failure instanceof StorageUnavailable) || isRefused(error)) throw failure
    // The statement is not repeated, because it may have taken effect.
    discard()
    const outcome = await markers.findOutcome(marker)
    if (outcome.kind === 'committed') return { ...(outcome.ids as FirstIds), made: null, used: null }
    throw outcome.kind === 'unknown' ? new CommitUnknown(error) : failure
  }
}

/**
 * A failed statement has no effect. If the server has ended the connection instead (FATAL), the commit may have happened. If
 * messages are not in English, the outcome is looked up more often than necessary.
 */
function isRefused(error: unknown): boolean {
  return (error instanceof pg.DatabaseError && error.severity === 'ERROR') || isLockTimeout(error)
}
