// A database on PostgreSQL that DATABASE_URL names: who answers, does a commit mean on disk, is the schema ours, can it
// be written.

import { ConfigError, describePlace, examineDatabase, loadPlace, StartRefused } from '@jobcast/server'
import { exitCode } from '../errors/exit-code.ts'
import { bad, type Finding, good, warning } from './finding.ts'

type Examination = Awaited<ReturnType<typeof examineDatabase>>

/** Nothing where DATABASE_URL is not set. */
export async function* checkDatabase(env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  let place: ReturnType<typeof loadPlace>
  try {
    place = loadPlace(undefined, env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield bad('database', error.message, exitCode.usage)
    return
  }
  if (place.databaseUrl === undefined) return
  let found: Examination
  try {
    found = await examineDatabase(place.databaseUrl)
  } catch (error) {
    const exit = error instanceof StartRefused ? exitCode.validation : exitCode.unavailable
    yield bad('database', `${describePlace(place)}: ${(error as Error).message}`, exit)
    return
  }
  yield good('database', `${describePlace(place)}, from DATABASE_URL`)
  for (const check of [checkVersion, checkEncoding, checkDisk, checkSchema, checkWrite]) yield check(found)
}

function checkVersion({ version, isNewEnough }: Examination): Finding {
  if (isNewEnough) return good('postgres', version)
  return bad('postgres', `${version}: Jobcast needs 15 or newer`, exitCode.validation)
}

function checkEncoding({ encoding }: Examination): Finding {
  if (encoding === 'UTF8') return good('encoding', encoding)
  return bad('encoding', `${encoding}: create the database with ENCODING 'UTF8'`, exitCode.validation)
}

function checkDisk({ fsync, synchronousCommit }: Examination): Finding {
  if (fsync !== 'on') {
    return bad('on disk', 'fsync is off: what was answered may be lost. Switch it on', exitCode.validation)
  }
  if (synchronousCommit !== 'off') return good('on disk', 'a commit waits for the disk')
  return good('on disk', 'synchronous_commit is off; Jobcast switches it on for itself')
}

function checkSchema({ schema }: Examination): Finding {
  if ('refused' in schema) return bad('schema', schema.refused, exitCode.validation)
  const { applied, known } = schema
  if (applied === known) return good('schema', `${applied}, that of this program`)
  const has = applied === 0 ? 'none yet' : `${applied}, and this program has ${known}`
  return warning('schema', `${has}: "jobcast migrate", or the next start, brings it there`)
}

function checkWrite({ writeTrouble }: Examination): Finding {
  if (writeTrouble === undefined) return good('writable', 'yes')
  return bad('writable', `no: ${writeTrouble}`, exitCode.unavailable)
}
