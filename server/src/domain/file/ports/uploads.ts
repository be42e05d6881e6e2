import type { Readable } from 'node:stream'

/**
 * Identifies an upload by version and content. A caller that sends the same key continues it, on any node that shares the
 * folder. `size`: the total size.
 */
export type UploadKey = { ownerNo: number; fileName: string; version: string; sha256: string; size: number }

/** How long an incomplete upload is kept after its last byte. */
export const uploadKeptMs = 24 * 60 * 60_000

/** `elsewhere`: the offset does not match; the upload continues at `received`. */
type AppendOutcome = { kind: 'stored' | 'elsewhere'; received: number }

/** Incomplete content. It survives a crash, and is not trusted until its hash is verified. */
export type FileUploads = {
  /** Reserves space. False: the upload has begun before. Rejects with StorageUnavailable. */
  begin(upload: UploadKey): Promise<boolean>
  /** The number of bytes received; 0 if the upload has not begun. */
  receivedOf(upload: UploadKey): Promise<number>
  /**
   * Appends at most `length` bytes of `body`. Rejects with ContentTooLarge, StorageUnavailable, or the error of the body; bytes
   * received before an error are kept.
   */
  append(
    upload: UploadKey,
    part: { offset: number; length: number; body: AsyncIterable<Buffer> },
  ): Promise<AppendOutcome>
  /** Undefined: no such upload. The caller must destroy the stream, even if it reads nothing. */
  read(upload: UploadKey): Promise<Readable | undefined>
  /** Concurrent calls for one upload on this node share the result of the first. */
  finish<T>(upload: UploadKey, work: () => Promise<T>): Promise<T>
  remove(upload: UploadKey): Promise<void>
  /** Lists the uploads of one owner. */
  list(ownerNo: number): Promise<UploadKey[]>
}

/** For nodes without storage for content. */
export const noUploads: FileUploads = {
  begin: () => Promise.reject(new Error('there is no storage for content')),
  receivedOf: async () => 0,
  append: () => Promise.reject(new Error('there is no storage for content')),
  read: async () => undefined,
  finish: (_upload, work) => work(),
  remove: async () => undefined,
  list: async () => [],
}
