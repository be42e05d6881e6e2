// The admin key of an empty database, and the file it is stored in.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createFirstKey, type KeyDeps, needsFirstKey } from '../domain/access/api-key.ts'
import { newSecretText, readSecretText, type SecretText } from '../domain/access/secret-text.ts'
import { prepareDataFolder } from '../store/data-folder.ts'
import { StartRefused } from '../store/migrate.ts'

function adminKeyFile(dataFolder: string): string {
  return join(dataFolder, 'admin-key')
}

/**
 * Returns the key if it was just created. The file is written before the database: after a crash in between, the next
 * start finds the key in the file and uses it.
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
  storeAdminKey(dataFolder, secret)
  if (await createFirstKey(deps, secret)) {
    // Written again, because a node that started at the same time in the same folder may have written another key.
    storeAdminKey(dataFolder, secret)
    return secret.text
  }
  if (readAdminKey(dataFolder)?.text === secret.text) rmSync(adminKeyFile(dataFolder), { force: true })
  return undefined
}

export function readAdminKey(dataFolder: string): SecretText | undefined {
  try {
    return readSecretText('jc', readFileSync(adminKeyFile(dataFolder), 'utf8').trim())
  } catch {
    return undefined // no such file
  }
}

function storeAdminKey(dataFolder: string, { id, text }: SecretText): void {
  const path = adminKeyFile(dataFolder)
  const newPath = `${path}.${id}.new`
  try {
    prepareDataFolder(dataFolder)
    const file = openSync(newPath, 'w', 0o600)
    writeSync(file, `${text}\n`)
    fsyncSync(file)
    closeSync(file)
    renameSync(newPath, path)
  } catch (error) {
    throw new StartRefused(
      `Cannot store the first key in ${path}: ${(error as Error).message.replace(/\.$/, '')}. ` +
        'Make that folder writable, or set a key of your own as JOBCAST_ADMIN_KEY ("jobcast new-key" prints one).',
    )
  }
}
