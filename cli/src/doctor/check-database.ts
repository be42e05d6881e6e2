// The PostgreSQL database of DATABASE_URL: version, encoding, durability, schema, write access.

import { ConfigError, describePlace, examineDatabase, loadPlace, StartRefused } from '@jobcast/server'
import { exitCode } from '../errors/exit-code.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

type Examination = Awaited<ReturnType<typeof examineDatabase>>

/** Nothing if DATABASE_URL is not set. */
export async function* checkDatabase(env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  let place: ReturnType<typeof loadPlace>
  try {
    place = loadPlace(undefined, env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield problem('database', error.message, exitCode.usage)
    return
  }
  if (place.databaseUrl === undefined) return
  let found: Examination
  try {
    found = await examineDatabase(place.databaseUrl)
  } catch (error) {
    const exit = error instanceof StartRefused ? exitCode.validation : exitCode.unavailable
    yield problem('database', `${describePlace(place)}: ${(error as Error).message}`, exit)
    return
  }
  yield ok('database', `${describePlace(place)}, from DATABASE_URL`)
  for (const check of [checkVersion, checkEncoding, checkDurability, checkSchema, checkWrite])
    yield check(found)
}

function checkVersion({ version, isNewEnough }: Examination): Finding {
  if (isNewEnough) return ok('postgres', version)
  return problem('postgres', `${version}: Jobcast requires 15 or newer`, exitCode.validation)
}

function checkEncoding({ encoding }: Examination): Finding {
  if (encoding === 'UTF8') return ok('encoding', encoding)
  return problem('encoding', `${encoding}: create the database with ENCODING 'UTF8'`, exitCode.validation)
}

function checkDurability({ fsync, synchronousCommit }: Examination): Finding {
  if (fsync !== 'on') {
    return problem(
      'durability',
      'fsync is off: committed data may be lost. Switch it on',
      exitCode.validation,
    )
  }
  if (synchronousCommit !== 'off') return ok('durability', 'a commit waits for the disk')
  return ok('durability', 'synchronous_commit is off; Jobcast switches it on for its own sessions')
}

function checkSchema({ schema }: Examination): Finding {
  if ('refused' in schema) return problem('schema', schema.refused, exitCode.validation)
  const { applied, known } = schema
  if (applied === known) return ok('schema', `${applied}, up to date`)
  const has = applied === 0 ? 'none yet' : `${applied}, this program has ${known}`
  return warning('schema', `${has}: "jobcast migrate" or the next start migrates it`)
}

function checkWrite({ writeTrouble }: Examination): Finding {
  if (writeTrouble === undefined) return ok('writable', 'yes')
  return problem('writable', `no: ${writeTrouble}`, exitCode.unavailable)
}
