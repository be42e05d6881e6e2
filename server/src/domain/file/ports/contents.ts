import type { Readable } from 'node:stream'
import { type FileUploads, noUploads } from './uploads.ts'

/** Content that has arrived whole and is on disk, but is not kept yet. */
export type ReceivedContent = { size: number; sha256: string; sha1: string; md5: string; part: string }

/** The body has more bytes than allowed. */
export class ContentTooLarge extends Error {
  override readonly name = 'ContentTooLarge'
}

/** Where none can be kept. */
export const noContents: FileContents = {
  isOpen: false,
  uploads: noUploads,
  receive: () => Promise.reject(new Error('there is no place for content')),
  discard: async () => undefined,
  keep: () => Promise.reject(new Error('there is no place for content')),
  open: async () => undefined,
  removeUnused: async () => undefined,
}

/** Where content is kept, by its sha256. It is whole or not there, whatever fails. */
export type FileContents = {
  /** False: there is no place for content on this node. */
  readonly isOpen: boolean
  /** What has arrived in part. */
  readonly uploads: FileUploads
  /**
   * Rejects with ContentTooLarge, StorageUnavailable, or what the body fails with; then nothing is left of it. `announced`: how
   * many bytes are expected; those for which there is no room are not read.
   */
  receive(body: AsyncIterable<Buffer>, maxBytes: number, announced?: number): Promise<ReceivedContent>
  discard(received: Pick<ReceivedContent, 'part'>): Promise<void>
  /** Keeps it while `record` runs, and for good if a version with this hash is recorded. */
  keep<T>(received: ReceivedContent, record: () => Promise<T>): Promise<T>
  /** From the first to the last byte, both included; undefined: it is not there. */
  open(sha256: string, range: { first: number; last: number }): Promise<Readable | undefined>
  /** Removes what no version needs, and what crashes have left. */
  removeUnused(listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void>
}
