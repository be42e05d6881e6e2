// A consistent copy of the embedded database, made beside a service that goes on writing to it.

import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'
import { writeNewFile } from './write-new-file.ts'

export type Copied = { file: string; bytes: number; pages: number }

/** Its message says that the copy is no good; nothing is kept of it. */
export class BrokenCopy extends Error {
  override name = 'BrokenCopy'
}

/** 4 MB at a time: between two of them the process hears signals. */
const pagesPerStep = 1000

/** Whole and checked under its name, or not there at all. */
export async function copyDatabase(io: Io, dataFolder: string, to: string): Promise<Copied> {
  const source = join(dataFolder, 'jobcast.db')
  if (!existsSync(source)) throw new UsageError(`there is no database (jobcast.db) in ${dataFolder}`)
  const { file, written: pages } = await writeNewFile(io, to, 'a backup', async (draft) => {
    // It holds secrets of webhooks and the hashes of keys, so it is closed before the first byte is in it.
    closeSync(openSync(draft, 'wx', 0o600))
    const pages = await copy(source, draft)
    check(draft)
    return pages
  })
  syncFolder(dirname(file))
  return { file, bytes: statSync(file).size, pages }
}

/**
 * SQLite begins its copy anew whenever another process has written. Inside of a transaction the source stays as it was
 * when that began, so that a busy service cannot keep the copy from its end; in the write-ahead log neither waits.
 */
async function copy(source: string, draft: string): Promise<number> {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5000 })
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get() // a transaction begins with its first read
    return await backup(db, draft, { rate: pagesPerStep })
  } finally {
    db.close()
  }
}

function check(draft: string): void {
  // Immutable: no log and no lock files beside it.
  const db = new DatabaseSync(new URL(`${pathToFileURL(draft)}?immutable=1`), { readOnly: true })
  try {
    const problems = db
      .prepare('PRAGMA integrity_check(3)')
      .all()
      .map((row) => Object.values(row)[0])
    if (problems[0] !== 'ok') throw new BrokenCopy(`the database is damaged: ${problems.join('; ')}`)
  } finally {
    db.close()
  }
}

/** So that the name is on disk as well. Windows knows no such thing. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  fsyncSync(opened)
  closeSync(opened)
}
