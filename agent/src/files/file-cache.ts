// A cache of fetched files by sha256, of limited size; the least recently used are removed first.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises'
import { join } from 'node:path'

/** Disk space left free for everything else on the device; on a small disk only a share of it. */
const reserveBytes = 64 * 1024 * 1024
const largestReserve = 0.05

export class FileCache {
  readonly #folder: string
  readonly #maxBytes: number

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Computes the hash each time: a handler could have changed the file. */
  async has(sha256: string): Promise<boolean> {
    const path = this.#pathOf(sha256)
    const found = await hashOf(path)
    if (found !== undefined && found !== sha256) await rm(path, { force: true })
    if (found !== sha256) return false
    const now = new Date()
    await utimes(path, now, now)
    return true
  }

  /** The file that a download is written to. After a crash it has what was received before. */
  async partOf(sha256: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return `${this.#pathOf(sha256)}.part`
  }

  /** Moves a complete download into the cache. Returns false if its hash differs; then it is removed. */
  async accept(sha256: string): Promise<boolean> {
    const part = await this.partOf(sha256)
    if ((await hashOf(part)) !== sha256) {
      await rm(part, { force: true })
      return false
    }
    await rename(part, this.#pathOf(sha256))
    return true
  }

  async discard(sha256: string): Promise<void> {
    await rm(await this.partOf(sha256), { force: true })
  }

  /** Makes the file available to a handler: as a hard link if possible, otherwise as a copy. */
  async place(sha256: string, path: string): Promise<void> {
    await rm(path, { force: true })
    await link(this.#pathOf(sha256), path).catch(() => copyFile(this.#pathOf(sha256), path))
  }

  /** Makes room for this many bytes. Files in `needed` are never removed, even above the limit. */
  async makeRoom(bytes: number, needed: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [])
    const found = await Promise.all(
      names.map(async (name) => ({ name, of: await stat(join(this.#folder, name)).catch(() => undefined) })),
    )
    let total = bytes + found.reduce((sum, { of }) => sum + (of?.size ?? 0), 0)
    const oldest = found.toSorted((a, b) => (a.of?.mtimeMs ?? 0) - (b.of?.mtimeMs ?? 0))
    for (const { name, of } of oldest) {
      if (total <= this.#maxBytes) return
      if (needed.has(name.slice(0, 64))) continue
      await rm(join(this.#folder, name), { force: true })
      total -= of?.size ?? 0
    }
  }

  /** Whether the disk has room for this many bytes: the size comes from the server and is not signed. */
  async hasSpace(bytes: number): Promise<boolean> {
    const found = await statfs(this.#folder).catch(() => undefined)
    // Some file systems do not report their size.
    if (found === undefined || found.blocks === 0) return true
    const { bavail, blocks, bsize } = found
    return bavail * bsize - Math.min(reserveBytes, blocks * bsize * largestReserve) >= bytes
  }

  #pathOf(sha256: string): string {
    return join(this.#folder, sha256)
  }
}

/** Undefined if the file does not exist. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return hash.digest('hex')
}
