// The keys that encrypt named secrets and secret parameters: from a setting, or, for the embedded database, generated on first use
// and stored in the data folder.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Store } from '../domain/common/ports/store.ts'
import { StartRefused } from '../store/migrate.ts'
import { keepKeyFile, readKeyFile } from './key-file.ts'

const keyBytes = 32

/** One or more keys of 32 bytes, in hexadecimal or base64, separated by white space. Undefined: invalid. */
export function parseSecretsKeys(text: string): Buffer[] | undefined {
  const keys = text.split(/\s+/).filter((each) => each !== '')
  const parsed = keys.map((each) => Buffer.from(each, /^[0-9a-fA-F]{64}$/.test(each) ? 'hex' : 'base64'))
  const areKeys = keys.every((each) => /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/.test(each))
  return keys.length > 0 && areKeys && parsed.every((key) => key.length === keyBytes) ? parsed : undefined
}

export function newSecretsKey(): string {
  return randomBytes(keyBytes).toString('base64url')
}

export function secretsKeyFile(dataFolder: string): string {
  return join(dataFolder, 'secrets-key')
}

/**
 * No keys are generated for PostgreSQL, because all nodes need the same ones, and none for a database that already has secrets, such
 * as a restored backup: a new key would hide until the first device needs a secret that the old key is missing.
 */
export async function ensureSecretsKeys(
  store: Pick<Store, 'listSealed' | 'listSealedSecrets'>,
  config: { secretsKeys: readonly Buffer[]; dataFolder: string; databaseUrl: string | undefined },
): Promise<readonly Buffer[]> {
  const { secretsKeys, dataFolder, databaseUrl } = config
  if (secretsKeys.length > 0) return secretsKeys
  if (databaseUrl !== undefined) {
    const encrypted = await findEncrypted(store)
    if (encrypted.length === 0) return []
    throw new StartRefused(
      `JOBCAST_SECRETS_KEY is not set, but the database has encrypted ${encrypted.join(' and ')}. Set it, or JOBCAST_SECRETS_KEY_FILE, ` +
        'to the key that encrypted them, as on all other nodes. If the key is lost, set another one, printed by ' +
        '"jobcast secrets new-key", start the service, and put each secret again.',
    )
  }
  const file = secretsKeyFile(dataFolder)
  const text = readKeyFile(file)
  if (text === undefined && (await findEncrypted(store)).length > 0) {
    throw new StartRefused(
      `${file} is missing: the secrets in the database are encrypted with the key in it. Restore the file from a backup, or set ` +
        `JOBCAST_SECRETS_KEY to that key. If the key is lost, create another one with "jobcast secrets new-key > ${file}", start ` +
        'the service, and put each secret again.',
    )
  }
  const keepNew = () =>
    keepKeyFile(file, `${newSecretsKey()}\n`, dataFolder, {
      name: 'the key for secrets',
      instead: 'set a key of your own as JOBCAST_SECRETS_KEY',
    })
  const keys = parseSecretsKeys(text ?? keepNew())
  if (keys) return keys
  throw new StartRefused(
    `${file} contains no key. Restore it from a backup, or remove it if there are no secrets; the next start creates a new one.`,
  )
}

async function findEncrypted(store: Pick<Store, 'listSealed' | 'listSealedSecrets'>): Promise<string[]> {
  const named = await store.listSealedSecrets({ ownerNo: 0, secretName: '', version: 0, limit: 1 })
  const ofRuns = await store.listSealed({ after: 0, limit: 1 })
  return [
    ...(named.length > 0 ? ['named secrets'] : []),
    ...(ofRuns.length > 0 ? ['secret parameters of runs'] : []),
  ]
}
