// The highest version of each signed job that this device has accepted. On disk before the job is started, so that nobody
// who has taken the server can go back to a version that its author has replaced.

import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseObject } from '../transport.ts'

export class SeenVersions {
  readonly #path: string
  readonly #versions: Map<string, number>

  private constructor(path: string, versions: Map<string, number>) {
    this.#path = path
    this.#versions = versions
  }

  /** Rejects if the file is damaged: to begin anew would accept old versions again. */
  static async open(path: string): Promise<SeenVersions> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const read = text === undefined ? {} : parseObject(text)
    const entries = Object.entries(read ?? {})
    if (read === undefined || entries.some(([, version]) => !Number.isSafeInteger(version))) {
      throw new Error('it is damaged')
    }
    return new SeenVersions(path, new Map(entries as [string, number][]))
  }

  /** 0 if none. */
  of(jobName: string): number {
    return this.#versions.get(jobName) ?? 0
  }

  /** Resolves once it is on disk. */
  async raise(jobName: string, version: number): Promise<void> {
    if (version <= this.of(jobName)) return
    const versions = new Map(this.#versions).set(jobName, version)
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
    this.#versions.set(jobName, version)
  }
}
