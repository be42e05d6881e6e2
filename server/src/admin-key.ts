// The admin key of an empty database, and the file that keeps it.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createFirstKey, type KeyDeps, needsFirstKey } from './domain/api-key.ts'
import { newSecretText, readSecretText, type SecretText } from './domain/secret-text.ts'
import { StartRefused } from './store/migrate.ts'

function adminKeyFile(dataFolder: string): string {
  return join(dataFolder, 'admin-key')
}

/**
 * Gives the key when it was made just now. The file comes first, the database second: after a crash
 * between the two the next start finds the key in the file and uses it.
 */
export async function ensureAdminKey(
  deps: KeyDeps,
  dataFolder: string,
  givenKey: string | undefined,
): Promise<string | undefined> {
  if (!(await needsFirstKey(deps))) return undefined
  const given = givenKey === undefined ? undefined : readSecretText('jc', givenKey)
  if (given) return (await createFirstKey(deps, given)) ? given.text : undefined
  const secret = readAdminKey(dataFolder) ?? newSecretText('jc')
  keepAdminKey(dataFolder, secret)
  if (await createFirstKey(deps, secret)) {
    // Once more: a node that started at the same time in the same folder may have written its own.
    keepAdminKey(dataFolder, secret)
    return secret.text
  }
  if (readAdminKey(dataFolder)?.text === secret.text) rmSync(adminKeyFile(dataFolder), { force: true })
  return undefined
}

export function readAdminKey(dataFolder: string): SecretText | undefined {
  try {
    return readSecretText('jc', readFileSync(adminKeyFile(dataFolder), 'utf8').trim())
  } catch {
    return undefined // no such file: nothing was kept
  }
}

function keepAdminKey(dataFolder: string, { id, text }: SecretText): void {
  const path = adminKeyFile(dataFolder)
  const newPath = `${path}.${id}.new`
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    const file = openSync(newPath, 'w', 0o600)
    writeSync(file, `${text}\n`)
    fsyncSync(file)
    closeSync(file)
    renameSync(newPath, path)
  } catch (error) {
    throw new StartRefused(
      `The first key cannot be kept in ${path}: ${(error as Error).message}. ` +
        'Make that folder writable, or give a key of your own as JOBCAST_ADMIN_KEY ("jobcast new-key" prints one).',
    )
  }
}
