// The highest version of each signed job that this device has accepted, and the hash of its signed payload. On disk before
// the job is started, so that a compromised server can neither roll back to a version that the author has replaced nor
// change the content of a version that the device has seen.

import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asObject, parseObject } from '../transport/transport.ts'

type Seen = {
  /** 0 if none. */
  version: number
  /** Hash of the signed payload, in hex. Undefined if an earlier agent recorded only the version. */
  sha256?: string
}

export class SeenVersions {
  readonly #path: string
  readonly #versions: Map<string, Seen>

  private constructor(path: string, versions: Map<string, Seen>) {
    this.#path = path
    this.#versions = versions
  }

  /** Rejects if the file is damaged: starting over would accept old versions again. */
  static async open(path: string): Promise<SeenVersions> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const read = text === undefined ? {} : parseObject(text)
    if (read === undefined) throw new Error('it is damaged')
    return new SeenVersions(path, new Map(Object.entries(read).map(([name, value]) => [name, seenOf(value)])))
  }

  of(jobName: string): Seen {
    return this.#versions.get(jobName) ?? { version: 0 }
  }

  /** Resolves once it is on disk. A lower or already recorded version changes nothing. */
  async record(jobName: string, seen: Seen): Promise<void> {
    const before = this.of(jobName)
    if (seen.version < before.version) return
    if (seen.version === before.version && before.sha256 !== undefined) return
    const versions = new Map(this.#versions).set(jobName, seen)
    const draft = `${this.#path}.new`
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(Object.fromEntries(versions))}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, this.#path)
    const folder = await open(dirname(this.#path))
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
    this.#versions.set(jobName, seen)
  }
}

/** An earlier agent wrote only the number. */
function seenOf(value: unknown): Seen {
  if (isVersion(value)) return { version: value }
  const { version, sha256 } = asObject(value) ?? {}
  if (isVersion(version) && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)) {
    return { version, sha256 }
  }
  throw new Error('it is damaged')
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
