// Migrations are files with a number and a name, applied in order, forward only, each in its own transaction.

import { readdirSync, readFileSync } from 'node:fs'

export type Migration = { number: number; name: string; sql: string }

/** Schema versions before and after: the number of applied migrations. */
export type SchemaChange = { from: number; to: number }

/** A problem at startup that the operator must solve; the message is a complete sentence. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
}

const unreleased =
  'was created by an unreleased version of Jobcast and cannot be migrated. Use that version for it, or start with '

/** A database from before the first released migration; it is not changed. */
export class UnreleasedDatabase extends StartRefused {
  constructor(which: string, instead: string) {
    super(`${which} ${unreleased}${instead}.`)
  }
}

/** There is no database in the given place. */
export class DatabaseMissing extends StartRefused {}

export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  return files.map((file, index) => {
    const [number, ...words] = file.replace(/\.sql$/, '').split('-')
    if (Number(number) !== index + 1) throw new Error(`migration ${file} is out of order`)
    return { number: index + 1, name: words.join('-'), sql: readFileSync(new URL(file, folder), 'utf8') }
  })
}

/** The migrations still to be applied on a database that has had the first `applied`. */
export function pendingMigrations(all: Migration[], applied: number): Migration[] {
  if (applied > all.length) {
    throw new StartRefused(
      `The database has schema ${applied}; this program supports schemas up to ${all.length}. ` +
        'It was written by a newer Jobcast: start that version, or restore a backup from before the upgrade.',
    )
  }
  return all.slice(applied)
}
