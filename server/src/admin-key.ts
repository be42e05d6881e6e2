// The admin key of an empty database, and the file that keeps it.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createFirstKey, type KeyDeps, needsFirstKey } from './domain/api-key.ts'
import { newSecretText, readSecretText, type SecretText } from './domain/secret-text.ts'

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
  const secret = given ?? readAdminKey(dataFolder) ?? newSecretText('jc')
  if (!given) writeWhole(adminKeyFile(dataFolder), `${secret.text}\n`)
  await createFirstKey(deps, secret)
  return secret.text
}

export function readAdminKey(dataFolder: string): SecretText | undefined {
  try {
    return readSecretText('jc', readFileSync(adminKeyFile(dataFolder), 'utf8').trim())
  } catch {
    return undefined // no such file: nothing was kept
  }
}

function writeWhole(path: string, text: string): void {
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
}
