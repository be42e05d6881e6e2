import type { Readable } from 'node:stream'
import type { DirectUrls } from './direct-urls.ts'
import { type FileUploads, noUploads } from './uploads.ts'

/** Content that was received completely and is on disk, but not stored yet. */
export type ReceivedContent = { size: number; sha256: string; sha1: string; md5: string; part: string }

/** The body has more bytes than allowed. */
export class ContentTooLarge extends Error {
  override readonly name = 'ContentTooLarge'
}

/** For nodes without storage for content. */
export const noContents: FileContents = {
  isOpen: false,
  uploads: noUploads,
  receive: () => Promise.reject(new Error('there is no storage for content')),
  discard: async () => undefined,
  keep: () => Promise.reject(new Error('there is no storage for content')),
  open: async () => undefined,
  removeUnused: async () => undefined,
}

/** Storage for content, by its sha256. Content is stored atomically: after a crash it is complete or absent. */
export type FileContents = {
  /** False: this node has no storage for content. */
  readonly isOpen: boolean
  /** Uploads in parts. */
  readonly uploads: FileUploads
  /**
   * Rejects with ContentTooLarge, StorageUnavailable, or the error of the body, and then leaves nothing behind. `announced`: the
   * expected number of bytes; without enough space for them, nothing is read. `expected`: its sha256, if known.
   */
  receive(
    body: AsyncIterable<Buffer>,
    maxBytes: number,
    announced?: number,
    expected?: string,
  ): Promise<ReceivedContent>
  discard(received: Pick<ReceivedContent, 'part'>): Promise<void>
  /** Stores the content while `record` runs, and permanently if a version with this hash is recorded. */
  keep<T>(received: ReceivedContent, record: () => Promise<T>): Promise<T>
  /** A range of bytes, both ends included; undefined: no such content. */
  open(sha256: string, range: { first: number; last: number }): Promise<Readable | undefined>
  /** Removes content that no version needs, and leftovers of crashes. */
  removeUnused(listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void>
  /** Undefined: devices fetch from this service. */
  readonly direct?: DirectUrls | undefined
  /** Rejects with StorageUnavailable. Undefined: it is on a disk, which is watched otherwise. */
  checkHealth?(): Promise<void>
}
