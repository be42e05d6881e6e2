// A data folder on this machine: whether it is in use, who can read it, whether it is intact, and its disk space.

import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { exitCode } from '../errors/exit-code.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const mib = 1024 * 1024
const minFree = 100 * mib
const lowFree = 1024 * mib
/** Files that give access to the stored data, or let their reader act as someone else. */
const secret = [
  'admin-key',
  'audit-key.pem',
  'files',
  'jobcast.db',
  'jobcast.db-wal',
  'secrets-key',
  'simulated-devices.json',
]

export function* checkData(folder: string): Generator<Finding> {
  const database = join(folder, 'jobcast.db')
  if (!existsSync(database)) {
    yield problem('data', `no database (jobcast.db) found in ${folder}`, exitCode.notFound)
    return
  }
  for (const check of [checkUse, checkReaders, checkIntegrity, checkKeys, checkSpace]) {
    try {
      yield check(folder)
    } catch (error) {
      yield problem('data', (error as Error).message, exitCode.unavailable)
    }
  }
}

/** A running service holds an exclusive lock, also against readers. */
function checkUse(folder: string): Finding {
  const lockFile = join(folder, 'jobcast.lock')
  if (!existsSync(lockFile)) return ok('in use', 'no service has used it yet')
  const lock = new DatabaseSync(lockFile, { readOnly: true })
  try {
    lock.prepare('SELECT count(*) FROM sqlite_schema').get()
    return ok('in use', 'no service is using it')
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== 5) throw error
    return ok('in use', 'a service is using it')
  } finally {
    lock.close()
  }
}

function checkReaders(folder: string): Finding {
  if (process.platform === 'win32') return ok('readers', 'not checked on Windows')
  if (isPrivate(folder)) return ok('readers', 'only the owner of the folder')
  const open = secret.filter((name) => {
    const file = join(folder, name)
    return existsSync(file) && !isPrivate(file)
  })
  if (open.length === 0) return ok('readers', 'only the owner of the files')
  return warning('readers', `others on this machine can read ${open.join(', ')}: chmod 700 ${folder}`)
}

function isPrivate(path: string): boolean {
  return (statSync(path).mode & 0o077) === 0
}

/** With the write-ahead log a reader does not disturb the writer. */
function checkIntegrity(folder: string): Finding {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true, timeout: 5000 })
  try {
    const [found] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})
    if (found === 'ok') return ok('integrity', 'the database is intact')
    return problem('integrity', `the database is damaged (${found}): restore a backup`, exitCode.unavailable)
  } finally {
    db.close()
  }
}

/** A restored backup has no keys: without them the service does not start on it. */
function checkKeys(folder: string): Finding {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true, timeout: 5000 })
  try {
    const has = (table: string) =>
      db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== undefined &&
      db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined
    const missing = [
      ...(has('audit_seal') && !existsSync(join(folder, 'audit-key.pem')) ? ['audit-key.pem'] : []),
      ...(has('secret') && !existsSync(join(folder, 'secrets-key')) ? ['secrets-key'] : []),
    ]
    if (missing.length === 0) return ok('keys', 'the folder has the keys that the database needs')
    return warning(
      'keys',
      `${missing.join(' and ')} missing in ${folder}: the service does not start without, unless you set --audit-key or JOBCAST_SECRETS_KEY`,
    )
  } finally {
    db.close()
  }
}

function checkSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${Math.floor(free / mib)} MiB free`
  if (free < minFree)
    return problem('disk space', `${text}: free some, or writes will be rejected`, exitCode.unavailable)
  return free < lowFree ? warning('disk space', `${text}, which is low`) : ok('disk space', text)
}
