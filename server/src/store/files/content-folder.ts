// Content of files in a folder, by its sha256. It is written under another name, synced and then renamed, so that content under
// its final name is complete.

import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { FileContents, ReceivedContent } from '../../domain/file/ports/contents.ts'
import { claimFolder } from './claim-folder.ts'
import { ContentHashes } from './content-hashes.ts'
import { orUnavailable } from './or-unavailable.ts'
import { unneeded, unusedAfterMs } from './unneeded-contents.ts'
import { UploadFolder } from './upload-folder.ts'

const folderMode = 0o700
const fileMode = 0o600
/** The suffix of content that is being removed, until it is certain that nothing needs it. */
const leaving = '.leaving'
const readBytes = 64 * 1024

type ContentFolderOptions = {
  folder: string
  /** Other processes also write to the folder. */
  isShared: boolean
  now: () => number
  /** Equal for all nodes on one database; undefined: not known yet. */
  installationId: () => Promise<string | undefined>
  /** Called if the folder belongs to another installation: then nothing is written to it or removed from it. */
  onForeign?: (folder: string) => void
  /** Throws StorageUnavailable if the disk has too little space for these bytes. */
  requireRoom: (bytes: number) => void
}

export class ContentFolder implements FileContents {
  readonly isOpen = true
  readonly uploads: UploadFolder
  readonly #folder: string
  readonly #now: () => number
  readonly #requireRoom: (bytes: number) => void
  readonly #isShared: boolean
  readonly #installationId: () => Promise<string | undefined>
  readonly #onForeign: (folder: string) => void
  readonly #openedAt: number
  #isForeign = false
  readonly #incoming: string
  /** Temporary files of this process. */
  readonly #parts = new Set<string>()
  /** Hashes that this process is recording. */
  readonly #busy = new Map<string, number>()

  constructor(options: ContentFolderOptions) {
    const { folder, isShared, now, requireRoom, installationId, onForeign = () => undefined } = options
    this.#folder = folder
    this.#installationId = installationId
    this.#onForeign = onForeign
    this.#openedAt = now()
    this.#isShared = isShared
    this.#incoming = join(folder, 'incoming')
    this.#now = now
    this.#requireRoom = requireRoom
    this.uploads = new UploadFolder({
      folder: join(folder, 'uploads'),
      ...{ now, requireRoom },
      requireOurs: () => this.#requireOurs(),
    })
  }

  async receive(body: AsyncIterable<Buffer>, maxBytes: number, announced = 0): Promise<ReceivedContent> {
    this.#requireRoom(announced)
    await this.#requireOurs()
    const part = join(this.#incoming, randomUUID())
    this.#parts.add(part)
    let file: FileHandle | undefined
    try {
      file = await orUnavailable(async () => {
        await mkdir(this.#incoming, { recursive: true, mode: folderMode })
        return open(part, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, fileMode)
      })
      const received = await this.#write(file, body, maxBytes)
      await file.close()
      return { ...received, part }
    } catch (error) {
      await file?.close().catch(() => undefined)
      await this.discard({ part })
      throw error
    }
  }

  async discard({ part }: Pick<ReceivedContent, 'part'>): Promise<void> {
    await unlink(part).catch(() => undefined)
    this.#parts.delete(part)
  }

  async keep<T>(received: ReceivedContent, record: () => Promise<T>): Promise<T> {
    const { part, sha256 } = received
    return this.#whileBusy(sha256, async () => {
      try {
        await orUnavailable(async () => {
          const folder = this.#folderOf(sha256)
          await mkdir(folder, { recursive: true, mode: folderMode })
          // Replaces the same content, so a crash always leaves one complete copy.
          await rename(part, this.#pathOf(sha256))
          this.#parts.delete(part)
          // Uses our clock, which also determines the age of content.
          const at = this.#now() / 1000
          await utimes(this.#pathOf(sha256), at, at)
          for (const each of [folder, this.#folder]) await syncFolder(each)
        })
      } catch (error) {
        await this.discard(received)
        throw error
      }
      return record()
    })
  }

  async open(
    sha256: string,
    { first, last }: { first: number; last: number },
  ): Promise<Readable | undefined> {
    try {
      const file = await open(this.#pathOf(sha256), 'r')
      return file.createReadStream({ start: first, end: last, highWaterMark: readBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new StorageUnavailable(error)
    }
  }

  async removeUnused(listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void> {
    if (!(await this.#isOurs())) return
    for await (const name of namesIn(this.#incoming)) {
      const part = join(this.#incoming, name)
      const isLeft = !this.#isShared || (await this.#isOld(part))
      if (isLeft && !this.#parts.has(part)) await unlink(part).catch(() => undefined)
    }
    await this.uploads.removeOld()
    // Leaves time to notice that the service was started with the wrong database.
    if (this.#now() < this.#openedAt + unusedAfterMs) return
    for await (const prefix of namesIn(this.#folder)) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue
      for await (const hash of unneeded(this.#hashesIn(prefix, listNeeded), listNeeded))
        await this.#remove(hash, listNeeded)
    }
  }

  /** Also handles content that a crash left behind during its removal. */
  async *#hashesIn(
    prefix: string,
    listNeeded: (sha256s: string[]) => Promise<string[]>,
  ): AsyncGenerator<string> {
    for await (const name of namesIn(join(this.#folder, prefix))) {
      if (/^[0-9a-f]{64}$/.test(name)) yield name
      else if (/^[0-9a-f]{64}\.leaving$/.test(name)) await this.#leave(name.slice(0, 64), listNeeded)
    }
  }

  async #remove(hash: string, listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void> {
    const path = this.#pathOf(hash)
    if (!(await this.#isOld(path)) || this.#busy.has(hash)) return
    if (!this.#isShared) return unlink(path).catch(() => undefined)
    // Another node may be storing the same content now. It records the content after writing it to this path. So a second check
    // after the rename finds the record, or that node writes the file again.
    await rename(path, path + leaving).catch(() => undefined)
    await this.#leave(hash, listNeeded)
  }

  async #leave(hash: string, listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void> {
    const path = this.#pathOf(hash)
    const isGone = await this.#isOld(path + leaving)
    const isNeeded = !isGone || this.#busy.has(hash) || (await listNeeded([hash])).length > 0
    // The rename may replace a file, which has the same content because it has the same hash.
    await (isNeeded ? rename(path + leaving, path) : unlink(path + leaving)).catch(() => undefined)
  }

  async #requireOurs(): Promise<void> {
    if (await orUnavailable(() => this.#isOurs())) return
    throw new StorageUnavailable(`the folder ${this.#folder} belongs to another installation`)
  }

  async #isOurs(): Promise<boolean> {
    const id = await this.#installationId()
    const isOurs = id !== undefined && (await claimFolder(this.#folder, id))
    if (id !== undefined && !isOurs && !this.#isForeign) this.#onForeign(this.#folder)
    this.#isForeign = id !== undefined && !isOurs
    return isOurs
  }

  async #write(file: FileHandle, body: AsyncIterable<Buffer>, maxBytes: number) {
    const hashes = new ContentHashes()
    for await (const chunk of hashes.through(body, maxBytes)) {
      this.#requireRoom(chunk.length)
      await orUnavailable(() => file.appendFile(chunk))
    }
    await orUnavailable(() => file.sync())
    return hashes.digest()
  }

  async #isOld(path: string): Promise<boolean> {
    const found = await stat(path).catch(() => undefined)
    return found !== undefined && found.mtimeMs < this.#now() - unusedAfterMs
  }

  async #whileBusy<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#busy.set(name, (this.#busy.get(name) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#busy.get(name) ?? 1) - 1
      if (left === 0) this.#busy.delete(name)
      else this.#busy.set(name, left)
    }
  }

  #folderOf(sha256: string): string {
    return join(this.#folder, sha256.slice(0, 2))
  }

  #pathOf(sha256: string): string {
    return join(this.#folderOf(sha256), sha256)
  }
}

/** Yields nothing for a missing folder. */
async function* namesIn(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder)) yield name
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Syncs the directory entry. Windows does not support this, and does not need it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
