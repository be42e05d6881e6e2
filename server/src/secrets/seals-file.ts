// The newest seals of the service, in a file next to the embedded database: manipulations of the database alone are detected at
// the next start. On PostgreSQL nodes only have the seals since their start.

import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type KnownSeal, mostKnown } from '../domain/audit/known-seals.ts'
import { StartRefused } from '../store/migrate.ts'
import { readKeyFile } from './key-file.ts'

type Contents = { keyId: string; seals: [ownerId: string, seal: KnownSeal][] }

export class SealsFile {
  readonly #path: string
  /** The contents from an earlier process, if any. */
  readonly left: Contents | undefined

  constructor(dataFolder: string) {
    this.#path = join(dataFolder, 'audit-seals.json')
    const text = readKeyFile(this.#path)
    this.left = text === undefined ? undefined : readContents(text)
    if (text !== undefined && this.left === undefined)
      throw new StartRefused(
        `${this.#path} cannot be read: it should contain the newest seals of the audit. ` +
          'Restore it, or delete it if you know why it was changed.',
      )
  }

  /** Writes the file atomically, also across power failures. */
  async keep(keyId: string, seals: ReadonlyMap<string, KnownSeal>): Promise<void> {
    const contents: Contents = { keyId, seals: [...seals] }
    const newPath = `${this.#path}.new`
    const file = await open(newPath, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(contents))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(newPath, this.#path)
  }
}

function readContents(text: string): Contents | undefined {
  try {
    const { keyId, seals } = JSON.parse(text)
    const isWhole =
      typeof keyId === 'string' &&
      Array.isArray(seals) &&
      seals.length <= mostKnown &&
      seals.every(isKnownSeal)
    return isWhole ? { keyId, seals } : undefined
  } catch {
    return undefined
  }
}

function isKnownSeal(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [ownerId, known] = value
  return (
    typeof ownerId === 'string' &&
    Number.isSafeInteger(known?.seal) &&
    Number.isSafeInteger(known.lastAuditId) &&
    typeof known.hash === 'string'
  )
}
