// Which schema a database file has: how many migrations it has had, and that they were ours.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { UnreleasedDatabase } from '../migrate.ts'
import { pragma } from './pragma.ts'

/** "Jobc". Unreleased versions, whose migrations were others, did not set it. */
export const applicationId = 0x4a6f6263

/** How many migrations it has had. Throws UnreleasedDatabase. */
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

/** Before it is opened for writing: that alone would change the file, by a checkpoint of its log. */
export function refuseUnreleased(path: string): void {
  if (sizeOf(path) === 0) return
  // Immutable: SQLite creates no files next to it. Only a log has to be read as well.
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
