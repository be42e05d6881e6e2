// Incomplete uploads: one file for each, named by its key, whose length is the number of received bytes. Uploads need no row and no
// lock: a part is always written at its offset, so two clients that send the same content do not conflict, and a killed node
// leaves the bytes that it has written. The hash is verified when the complete content is copied to the content folder.

import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rmdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ContentTooLarge } from '../../domain/file/ports/contents.ts'
import { type FileUploads, type UploadKey, uploadKeptMs } from '../../domain/file/ports/uploads.ts'
import { orUnavailable } from './or-unavailable.ts'
import { Finishing, nameOfUpload, uploadOfName } from './upload-names.ts'

const folderMode = 0o700
const fileMode = 0o600
const readBytes = 64 * 1024

type UploadFolderOptions = {
  folder: string
  now: () => number
  /** Throws StorageUnavailable if the folder belongs to another installation. */
  requireOurs: () => Promise<void>
  /** Throws StorageUnavailable if the disk has too little space for these bytes. */
  requireRoom: (bytes: number) => void
}

export class UploadFolder implements FileUploads {
  readonly #folder: string
  readonly #now: () => number
  readonly #requireOurs: () => Promise<void>
  readonly #requireRoom: (bytes: number) => void
  readonly #finishing = new Finishing()

  constructor({ folder, now, requireOurs, requireRoom }: UploadFolderOptions) {
    this.#folder = folder
    this.#now = now
    this.#requireOurs = requireOurs
    this.#requireRoom = requireRoom
  }

  async begin(upload: UploadKey): Promise<boolean> {
    if (await exists(this.#pathOf(upload))) return false
    // Reserves twice the size, because the content is copied at the end.
    this.#requireRoom(2 * upload.size)
    await this.#requireOurs()
    return orUnavailable(async () => {
      await mkdir(this.#folderOf(upload.ownerNo), { recursive: true, mode: folderMode })
      const file = await openUnless('EEXIST', this.#pathOf(upload), 'wx', fileMode)
      await file?.close()
      return file !== undefined
    })
  }

  async receivedOf(upload: UploadKey): Promise<number> {
    return (await stat(this.#pathOf(upload)).catch(() => undefined))?.size ?? 0
  }

  async append(
    upload: UploadKey,
    { offset, length, body }: { offset: number; length: number; body: AsyncIterable<Buffer> },
  ) {
    this.#requireRoom(length)
    await this.#requireOurs()
    const file = await orUnavailable(() => openUnless('ENOENT', this.#pathOf(upload), 'r+'))
    if (file === undefined) return { kind: 'elsewhere' as const, received: 0 }
    try {
      const { size } = await orUnavailable(() => file.stat())
      if (size !== offset) return { kind: 'elsewhere' as const, received: size }
      await this.#write(file, offset, offset + length, body)
    } finally {
      await file.close()
    }
    return { kind: 'stored' as const, received: await this.receivedOf(upload) }
  }

  async read(upload: UploadKey): Promise<Readable | undefined> {
    const file = await orUnavailable(() => openUnless('ENOENT', this.#pathOf(upload), 'r'))
    return file?.createReadStream({ highWaterMark: readBytes })
  }

  async finish<T>(upload: UploadKey, work: () => Promise<T>): Promise<T> {
    return this.#finishing.join(this.#pathOf(upload), work)
  }

  async remove(upload: UploadKey): Promise<void> {
    await unlink(this.#pathOf(upload)).catch(() => undefined)
  }

  async list(ownerNo: number): Promise<UploadKey[]> {
    return (await namesIn(this.#folderOf(ownerNo))).flatMap((name) => uploadOfName(ownerNo, name) ?? [])
  }

  /** Removes uploads that received nothing for a day. */
  async removeOld(): Promise<void> {
    for (const owner of await namesIn(this.#folder)) {
      const folder = join(this.#folder, owner)
      for (const name of await namesIn(folder)) {
        const path = join(folder, name)
        const found = await stat(path).catch(() => undefined)
        const isOld = found !== undefined && found.mtimeMs < this.#now() - uploadKeptMs
        if (isOld) await unlink(path).catch(() => undefined)
      }
      // Fails if the folder is not empty.
      await rmdir(folder).catch(() => undefined)
    }
  }

  async #write(file: FileHandle, from: number, to: number, body: AsyncIterable<Buffer>): Promise<void> {
    let at = from
    try {
      for await (const chunk of body) {
        if (at + chunk.length > to) throw new ContentTooLarge(`more than ${to - from} bytes`)
        this.#requireRoom(chunk.length)
        await orUnavailable(() => writeAll(file, chunk, at))
        at += chunk.length
      }
    } finally {
      await orUnavailable(async () => {
        await file.sync()
        // Uses our clock, which also determines the age of uploads.
        const now = this.#now() / 1000
        await file.utimes(now, now)
      })
    }
  }

  #folderOf(ownerNo: number): string {
    return join(this.#folder, String(ownerNo))
  }

  #pathOf(upload: UploadKey): string {
    return join(this.#folderOf(upload.ownerNo), nameOfUpload(upload))
  }
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}

async function openUnless(
  code: 'ENOENT' | 'EEXIST',
  path: string,
  flags: string,
  mode?: number,
): Promise<FileHandle | undefined> {
  return open(path, flags, mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code === code) return undefined
    throw error
  })
}
