// A data folder on this machine: who uses it, who can read it, is it whole, is there room.

import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { exitCode } from '../errors/exit-code.ts'
import { bad, type Finding, good, warning } from './finding.ts'

const mib = 1024 * 1024
const leastFree = 100 * mib
const fewFree = 1024 * mib

export function* checkData(folder: string): Generator<Finding> {
  const database = join(folder, 'jobcast.db')
  if (!existsSync(database)) {
    yield bad('data', `there is no database (jobcast.db) in ${folder}`, exitCode.notFound)
    return
  }
  for (const check of [checkUse, checkReaders, checkWhole, checkRoom]) {
    try {
      yield check(folder)
    } catch (error) {
      yield bad('data', (error as Error).message, exitCode.unavailable)
    }
  }
}

/** A running service holds its lock for itself, also against those who would only read. */
function checkUse(folder: string): Finding {
  const lockFile = join(folder, 'jobcast.lock')
  if (!existsSync(lockFile)) return good('in use', 'no service has run on it since it was put there')
  const lock = new DatabaseSync(lockFile, { readOnly: true })
  try {
    lock.prepare('SELECT count(*) FROM sqlite_schema').get()
    return good('in use', 'no: no service is running on it')
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== 5) throw error
    return good('in use', 'yes: a service is running on it')
  } finally {
    lock.close()
  }
}

function checkReaders(folder: string): Finding {
  if (process.platform === 'win32') return good('readers', 'not checked on Windows')
  if (isClosed(folder)) return good('readers', 'only the owner of the folder')
  const open = ['admin-key', 'jobcast.db', 'jobcast.db-wal', 'simulated-devices.json'].filter((name) => {
    const file = join(folder, name)
    return existsSync(file) && !isClosed(file)
  })
  if (open.length === 0) return good('readers', 'only the owner of the files')
  return warning('readers', `others on this machine can read ${open.join(', ')}: chmod 700 ${folder}`)
}

function isClosed(path: string): boolean {
  return (statSync(path).mode & 0o077) === 0
}

/** In a write-ahead log a reader disturbs no writer. */
function checkWhole(folder: string): Finding {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true, timeout: 5000 })
  try {
    const [found] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})
    if (found === 'ok') return good('whole', 'the database is in order')
    return bad('whole', `the database is damaged (${found}): restore a backup`, exitCode.unavailable)
  } finally {
    db.close()
  }
}

function checkRoom(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${Math.floor(free / mib)} MiB are free`
  if (free < leastFree)
    return bad('room', `${text}: make room, or writes will be refused`, exitCode.unavailable)
  return free < fewFree ? warning('room', `${text}, which is little`) : good('room', text)
}
