import type { OwnerList, Put, Slice, Sliced } from '../../common/ports/slices.ts'

type FileKey = { ownerNo: number; fileName: string; version: string }

/** Some users of a file; runs are unfinished ones. */
type FileUsers = { jobNames: string[]; scheduleNames: string[]; runIds: number[] }

/** `url`: where the content is; null: it is stored here. */
export type FileContent = {
  size: number
  sha256: string
  sha1: string | null
  md5: string | null
  url: string | null
}

export type FoundFile = FileContent & { fileName: string; version: string; isNewest: boolean }

export type StoredFile = FoundFile & {
  putNo: number
  createdAt: number
  createdBy: string
  usedBy: FileUsers
}

/** `most`: maximum number of versions of the owner; `mostBytes`: maximum size of all stored content, 0: no limit. */
type FilePut = FileKey & FileContent & { principal: string; at: number; most: number; mostBytes: number }

type FileOutcome =
  | ({ kind: 'put' } & Put<StoredFile>)
  | { kind: 'other-content' }
  | { kind: 'too-many' }
  | { kind: 'too-many-bytes' }

type FileRemoval = { kind: 'deleted' } | { kind: 'unknown-file' } | ({ kind: 'in-use' } & FileUsers)

export type FileStore = {
  /** Putting the same content again changes nothing. */
  putFile(put: FilePut): Promise<FileOutcome>
  getFile(file: FileKey): Promise<StoredFile | undefined>
  /** Lists the newest version of each file. */
  listFiles(list: OwnerList<string>): Promise<Sliced<StoredFile, string>>
  /** Newest first. */
  listFileVersions(list: {
    ownerNo: number
    fileName: string
    slice: Slice<number>
  }): Promise<Sliced<StoredFile, number>>
  /** Finds existing files by NAME (the newest version) or NAME@VERSION. */
  findFiles(files: { ownerNo: number; refs: string[] }): Promise<(FoundFile & { ref: string })[]>
  /** The newest version is also in use if something refers to the file without a version. */
  deleteFile(file: FileKey & { principal: string; at: number }): Promise<FileRemoval>
  /** The size of all stored content of an owner. */
  countFileBytes(files: { ownerNo: number }): Promise<number>
  /** Returns those hashes whose content a version needs. */
  listKeptContents(contents: { sha256s: string[] }): Promise<string[]>
}
