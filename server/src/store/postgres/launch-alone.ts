// A statement that is a transaction of its own: it needs no BEGIN before it and no COMMIT behind it, so that it is one
// message to the database and one answer. It counts up its marker itself (commit-markers.ts).

import pg from 'pg'
import { CommitUnknown, StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { json, orNull, rows } from '../schema/column.ts'
import { lastId } from '../schema/tables.ts'
import type { Marker } from './commit-markers.ts'
import { failureOf, isLockTimeout } from './failures.ts'
import type { CommitCheck, FirstIds } from './transaction.ts'

/** `made`: of a group with keys, the position of each trigger that made something, and its ids. */
export type Launched = FirstIds & { made: Made[] | null }
type Made = [position: number, runId: number, firstExecutionId: number]
const LAUNCHED = rows({ ...lastId.fields, made: orNull(json<Made[]>()) })

/** With the marker that it counts up; answers with the first ids that it has taken, or not at all if it took none. */
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
    if (row === undefined) return { runId: 0, jobExecutionId: 0, made: [] }
    markers.countUp(marker)
    return LAUNCHED.read(row)
  } catch (error) {
    const failure = failureOf(error)
    if (!(failure instanceof StorageUnavailable) || isRefused(error)) throw failure
    // It is not simply sent again: that could do everything twice.
    discard()
    const outcome = await markers.findOutcome(marker)
    if (outcome.kind === 'committed') return { ...(outcome.ids as FirstIds), made: null }
    throw outcome.kind === 'unknown' ? new CommitUnknown(error) : failure
  }
}

/**
 * Nothing of a statement holds that has failed. Where the server has ended the connection instead (FATAL), the commit may
 * have been done. In another language than English it is looked up more often than it has to be.
 */
function isRefused(error: unknown): boolean {
  return (error instanceof pg.DatabaseError && error.severity === 'ERROR') || isLockTimeout(error)
}
