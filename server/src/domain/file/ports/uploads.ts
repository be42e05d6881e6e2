import type { Readable } from 'node:stream'

/**
 * Which content is on its way, as which version. Who has all of this goes on where it stopped, on any node that has the folder.
 * `size`: of all of it.
 */
export type UploadKey = { ownerNo: number; fileName: string; version: string; sha256: string; size: number }

/** How long what has arrived is kept after the last byte of it. */
export const uploadKeptMs = 24 * 60 * 60_000

/** `elsewhere`: it does not go on at that byte, but at `received`. */
type AppendOutcome = { kind: 'stored' | 'elsewhere'; received: number }

/** Content that has arrived in part. What is there survives a crash, and is not trusted until its hash is known. */
export type FileUploads = {
  /** Makes room for it. False: it has begun before. Rejects with StorageUnavailable. */
  begin(upload: UploadKey): Promise<boolean>
  /** How many bytes are there; 0 as well if it has not begun. */
  receivedOf(upload: UploadKey): Promise<number>
  /**
   * Of `body` at most `length` bytes. What has arrived is kept, also where this rejects: with ContentTooLarge, StorageUnavailable,
   * or what the body fails with.
   */
  append(
    upload: UploadKey,
    part: { offset: number; length: number; body: AsyncIterable<Buffer> },
  ): Promise<AppendOutcome>
  /** Undefined: it is not there. To be destroyed, also if nothing of it is read. */
  read(upload: UploadKey): Promise<Readable | undefined>
  /** Joins what has begun on this node for the same upload and has not ended. */
  finish<T>(upload: UploadKey, work: () => Promise<T>): Promise<T>
  remove(upload: UploadKey): Promise<void>
  /** Of one owner. */
  list(ownerNo: number): Promise<UploadKey[]>
}

/** Where no content can be kept. */
export const noUploads: FileUploads = {
  begin: () => Promise.reject(new Error('there is no place for content')),
  receivedOf: async () => 0,
  append: () => Promise.reject(new Error('there is no place for content')),
  read: async () => undefined,
  finish: (_upload, work) => work(),
  remove: async () => undefined,
  list: async () => [],
}
