import type { OwnerList, Put, Slice, Sliced } from '../../common/ports/slices.ts'

type FileKey = { ownerNo: number; fileName: string; version: string }

/** Some of what uses it; runs are unfinished ones. */
type FileUsers = { jobNames: string[]; scheduleNames: string[]; runIds: number[] }

/** `url`: where the content is; null: it is kept here. */
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

/** `most`: versions of the owner; `mostBytes`: of all that is kept of them, 0: no limit. */
type FilePut = FileKey & FileContent & { principal: string; at: number; most: number; mostBytes: number }

type FileOutcome =
  | ({ kind: 'put' } & Put<StoredFile>)
  | { kind: 'other-content' }
  | { kind: 'too-many' }
  | { kind: 'too-many-bytes' }

type FileRemoval = { kind: 'deleted' } | { kind: 'unknown-file' } | ({ kind: 'in-use' } & FileUsers)

export type FileStore = {
  /** The same content again is no change. */
  putFile(put: FilePut): Promise<FileOutcome>
  getFile(file: FileKey): Promise<StoredFile | undefined>
  /** The newest version of each. */
  listFiles(list: OwnerList<string>): Promise<Sliced<StoredFile, string>>
  /** The newest first. */
  listFileVersions(list: {
    ownerNo: number
    fileName: string
    slice: Slice<number>
  }): Promise<Sliced<StoredFile, number>>
  /** By NAME, which is the newest, or NAME@VERSION; those that there are. */
  findFiles(files: { ownerNo: number; refs: string[] }): Promise<(FoundFile & { ref: string })[]>
  /** The newest is in use if something uses it without naming a version. */
  deleteFile(file: FileKey & { principal: string; at: number }): Promise<FileRemoval>
  /** Of all that is kept of an owner. */
  countFileBytes(files: { ownerNo: number }): Promise<number>
  /** Those of these hashes whose content is needed. */
  listKeptContents(contents: { sha256s: string[] }): Promise<string[]>
}
