// The schema version of a database file: the number of applied migrations, and a check that it is ours.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { UnreleasedDatabase } from '../migrate.ts'
import { pragma } from './pragma.ts'

/** "Jobc". Unreleased versions, which had other migrations, did not set it. */
export const applicationId = 0x4a6f6263

/** The number of applied migrations. Throws UnreleasedDatabase. */
export function schemaOf(db: DatabaseSync): number {
  const applied = Number(pragma(db, 'user_version'))
  if (applied > 0 && pragma(db, 'application_id') !== applicationId) {
    throw new UnreleasedDatabase(
      `The database at ${db.location() ?? 'memory'}`,
      'an empty data folder (--data)',
    )
  }
  return applied
}

/** Must be called before the file is opened for writing, which would change it by a checkpoint of its log. */
export function refuseUnreleased(path: string): void {
  if (sizeOf(path) === 0) return
  // Immutable, so that SQLite creates no files next to it. This is only possible without a log, which must be read as well.
  const source = sizeOf(`${path}-wal`) > 0 ? path : new URL(`${pathToFileURL(path)}?immutable=1`)
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5000 })
  try {
    schemaOf(db)
  } finally {
    db.close()
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
