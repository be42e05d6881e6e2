// Incomplete uploads: for each upload an empty object that marks its begin, and an object for each piece. All pieces except the last
// one have the size of a part; the last one is rewritten with more bytes. As in a folder (upload-folder.ts), uploads need no row and
// no lock: a part is always written at its offset, and the hash is verified at the end.

import { Readable } from 'node:stream'
import { ContentTooLarge } from '../../domain/file/ports/contents.ts'
import type { FileUploads, UploadKey } from '../../domain/file/ports/uploads.ts'
import type { Bucket, StoredObject } from './bucket.ts'
import { PartBuffer, partBytesFor } from './part-buffer.ts'
import { Finishing, nameOfUpload, uploadOfName } from './upload-names.ts'

const folder = 'uploads/'
const begun = 'begun'
const removedAtOnce = 8

type BucketUploadsOptions = {
  bucket: Bucket
  leastPartBytes: number | undefined
  /** Throws StorageUnavailable if the bucket belongs to another installation. */
  requireOurs: () => Promise<void>
}

/** `lastBytes`: the size of the last piece, unless it is full. */
type Found = { isBegun: boolean; received: number; pieces: number; lastBytes: number }

export class BucketUploads implements FileUploads {
  readonly #bucket: Bucket
  readonly #leastPartBytes: number | undefined
  readonly #requireOurs: () => Promise<void>
  readonly #finishing = new Finishing()

  constructor({ bucket, leastPartBytes, requireOurs }: BucketUploadsOptions) {
    this.#bucket = bucket
    this.#leastPartBytes = leastPartBytes
    this.#requireOurs = requireOurs
  }

  async begin(upload: UploadKey): Promise<boolean> {
    if ((await this.#find(upload)).isBegun) return false
    await this.#requireOurs()
    // An interrupted removal may have left some objects.
    await this.remove(upload)
    await this.#bucket.put(folderOf(upload) + begun, Buffer.alloc(0))
    return true
  }

  async receivedOf(upload: UploadKey): Promise<number> {
    return (await this.#find(upload)).received
  }

  async append(
    upload: UploadKey,
    { offset, length, body }: { offset: number; length: number; body: AsyncIterable<Buffer> },
  ) {
    await this.#requireOurs()
    const found = await this.#find(upload)
    if (!found.isBegun || found.received !== offset)
      return { kind: 'elsewhere' as const, received: found.isBegun ? found.received : 0 }
    const last = found.lastBytes > 0 ? await this.#bucket.read(pieceKey(upload, found.pieces - 1)) : undefined
    // Another client that sends the same content has rewritten the last piece meanwhile.
    if (found.lastBytes > 0 && last?.length !== found.lastBytes)
      return { kind: 'elsewhere' as const, received: await this.receivedOf(upload) }
    const received = await this.#write(upload, { ...found, last }, length, body)
    return { kind: 'stored' as const, received }
  }

  async read(upload: UploadKey): Promise<Readable | undefined> {
    const { isBegun, pieces } = await this.#find(upload)
    return isBegun ? Readable.from(this.#readPieces(upload, pieces), { objectMode: false }) : undefined
  }

  finish<T>(upload: UploadKey, work: () => Promise<T>): Promise<T> {
    return this.#finishing.join(folderOf(upload), work)
  }

  async remove(upload: UploadKey): Promise<void> {
    const keys = await Array.fromAsync(this.#bucket.list(folderOf(upload)), ({ key }) => key)
    await this.#removeAll(keys)
  }

  async list(ownerNo: number): Promise<UploadKey[]> {
    const names = await Array.fromAsync(this.#bucket.listFolders(`${folder}${ownerNo}/`))
    return names.flatMap((name) => uploadOfName(ownerNo, name) ?? [])
  }

  /** For the cleanup, which lists all objects. */
  collectOld(before: number): { add(object: StoredObject): boolean; remove(): Promise<void> } {
    const uploads = new Map<string, { keys: string[]; lastAt: number }>()
    return {
      add({ key, at }) {
        if (!key.startsWith(folder)) return false
        const name = key.slice(0, key.lastIndexOf('/'))
        const { keys, lastAt } = uploads.get(name) ?? { keys: [], lastAt: 0 }
        keys.push(key)
        uploads.set(name, { keys, lastAt: Math.max(lastAt, at) })
        return true
      },
      remove: async () => {
        for (const { keys, lastAt } of uploads.values()) if (lastAt < before) await this.#removeAll(keys)
      },
    }
  }

  async #removeAll(keys: string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += removedAtOnce)
      await Promise.all(keys.slice(at, at + removedAtOnce).map((key) => this.#bucket.remove(key)))
  }

  /** Stores received bytes, also if the body fails. */
  async #write(
    upload: UploadKey,
    found: Found & { last: Buffer | undefined },
    length: number,
    body: AsyncIterable<Buffer>,
  ): Promise<number> {
    let piece = found.last ? found.pieces - 1 : found.pieces
    const pending = new PartBuffer(Math.min(this.#partBytesOf(upload), found.lastBytes + length))
    if (found.last) pending.add(found.last)
    let received = found.received
    let isStored = true
    const store = async () => {
      await this.#bucket.put(pieceKey(upload, piece), pending.bytes)
      isStored = true
    }
    try {
      for await (const chunk of body) {
        if (received - found.received + chunk.length > length)
          throw new ContentTooLarge(`more than ${length} bytes`)
        for (let done = 0; done < chunk.length; ) {
          if (pending.isFull) {
            await store()
            pending.clear()
            piece++
          }
          done += pending.add(chunk.subarray(done))
          isStored = false
        }
        received += chunk.length
      }
    } finally {
      if (!isStored) await store()
    }
    return received
  }

  async *#readPieces(upload: UploadKey, pieces: number): AsyncGenerator<Buffer> {
    for (let piece = 0; piece < pieces; piece++) {
      const found = await this.#bucket.read(pieceKey(upload, piece))
      if (found === undefined) return
      yield found
    }
  }

  /** Reads the pieces up to the first one that is not full. */
  async #find(upload: UploadKey): Promise<Found> {
    const partBytes = this.#partBytesOf(upload)
    const found: Found = { isBegun: false, received: 0, pieces: 0, lastBytes: 0 }
    for await (const { key, size } of this.#bucket.list(folderOf(upload))) {
      if (key === folderOf(upload) + begun) found.isBegun = true
      else if (found.lastBytes === 0 && key === pieceKey(upload, found.pieces)) {
        found.pieces++
        found.received += size
        if (size < partBytes) found.lastBytes = size
      }
    }
    return found
  }

  #partBytesOf({ size }: UploadKey): number {
    return partBytesFor(size, this.#leastPartBytes)
  }
}

function folderOf(upload: UploadKey): string {
  return `${folder}${upload.ownerNo}/${nameOfUpload(upload)}/`
}

/** The order of the keys is that of the pieces. */
function pieceKey(upload: UploadKey, piece: number): string {
  return folderOf(upload) + String(piece).padStart(6, '0')
}
