// A consistent copy of the embedded database, taken while a service writes to it.

import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'
import { type OnProgress, withTaskBar } from '../output/task-bar.ts'
import { writeNewFile } from './write-new-file.ts'

type Copied = { file: string; bytes: number; pages: number }

/** The copy is damaged and was deleted. */
export class BrokenCopy extends Error {
  override name = 'BrokenCopy'
}

/** 4 MB per step; signals are handled between steps. */
const pagesPerStep = 1000

/** The file is complete and verified, or does not exist. */
export async function copyDatabase(io: Io, dataFolder: string, to: string): Promise<Copied> {
  const source = join(dataFolder, 'jobcast.db')
  if (!existsSync(source)) throw new UsageError(`no database (jobcast.db) found in ${dataFolder}`)
  const { file, written: pages } = await writeNewFile(io, to, 'a backup', async (draft) => {
    // It contains webhook secrets and key hashes, so its mode is set before the first byte is written.
    closeSync(openSync(draft, 'wx', 0o600))
    return withTaskBar(io, 'Backing up', async (onProgress) => {
      const pages = await copy(source, draft, onProgress)
      onProgress?.(pages, pages, 'checking the copy')
      check(draft)
      return pages
    })
  })
  syncFolder(dirname(file))
  return { file, bytes: statSync(file).size, pages }
}

/**
 * SQLite restarts its copy whenever another process has written. Inside a transaction the copy reads one snapshot, so a busy
 * service cannot delay it forever; with the write-ahead log neither waits for the other.
 */
async function copy(source: string, draft: string, onProgress?: OnProgress): Promise<number> {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5000 })
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get() // a transaction begins with its first read
    return await backup(db, draft, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) => onProgress?.(totalPages - remainingPages, totalPages),
    })
  } finally {
    db.close()
  }
}

function check(draft: string): void {
  // Immutable, so that SQLite creates no log and lock files next to it.
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

/** Makes the file name durable as well. Not available on Windows. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  fsyncSync(opened)
  closeSync(opened)
}
