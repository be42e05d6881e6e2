// The keys that encrypt secrets, named ones and those among parameters: given as a setting, or, for the embedded database, made on first use and
// kept in the data folder.

import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { prepareDataFolder } from '../store/data-folder.ts'
import { StartRefused } from '../store/migrate.ts'

const keyBytes = 32

/** One or more keys of 32 bytes, in hexadecimal digits or base64, separated by white space. Undefined: it is none. */
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

/** On PostgreSQL all nodes need the same ones, so none is made. */
export function ensureSecretsKeys(config: {
  secretsKeys: readonly Buffer[]
  dataFolder: string
  databaseUrl: string | undefined
}): readonly Buffer[] {
  const { secretsKeys, dataFolder, databaseUrl } = config
  if (secretsKeys.length > 0 || databaseUrl !== undefined) return secretsKeys
  const file = secretsKeyFile(dataFolder)
  const keys = parseSecretsKeys(readKept(file) ?? keepNew(file, dataFolder))
  if (keys) return keys
  throw new StartRefused(
    `${file} contains no key. Restore it from a backup, or remove it if there are no secrets; the next start creates a new one.`,
  )
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartRefused(`Cannot read ${file}: ${(error as Error).message}`)
  }
}

/** It is there as a whole or not at all: what a lost key has encrypted cannot be read again. */
function keepNew(path: string, dataFolder: string): string {
  const text = `${newSecretsKey()}\n`
  const newPath = `${path}.${process.pid}.new`
  try {
    prepareDataFolder(dataFolder)
    const file = openSync(newPath, 'wx', 0o600)
    writeSync(file, text)
    fsyncSync(file)
    closeSync(file)
    linkSync(newPath, path)
    return text
  } catch (error) {
    throw new StartRefused(
      `Cannot store the key for secrets in ${path}: ${(error as Error).message.replace(/\.$/, '')}. ` +
        'Make that folder writable, or set a key of your own as JOBCAST_SECRETS_KEY.',
    )
  } finally {
    rmSync(newPath, { force: true })
  }
}
