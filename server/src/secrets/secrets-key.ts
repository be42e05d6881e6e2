// The keys that encrypt named secrets and secret parameters: from a setting, or, for the embedded database, generated on first use
// and stored in the data folder.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
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

/** No keys are generated for PostgreSQL, because all nodes need the same ones. */
export function ensureSecretsKeys(config: {
  secretsKeys: readonly Buffer[]
  dataFolder: string
  databaseUrl: string | undefined
}): readonly Buffer[] {
  const { secretsKeys, dataFolder, databaseUrl } = config
  if (secretsKeys.length > 0 || databaseUrl !== undefined) return secretsKeys
  const file = secretsKeyFile(dataFolder)
  const keepNew = () =>
    keepKeyFile(file, `${newSecretsKey()}\n`, dataFolder, {
      name: 'the key for secrets',
      instead: 'set a key of your own as JOBCAST_SECRETS_KEY',
    })
  const keys = parseSecretsKeys(readKeyFile(file) ?? keepNew())
  if (keys) return keys
  throw new StartRefused(
    `${file} contains no key. Restore it from a backup, or remove it if there are no secrets; the next start creates a new one.`,
  )
}
