// A file: content for devices, with a name and versions. It is stored by its hash, or elsewhere and referred to by its URL. Documents
// name files in `files` and in `${file.NAME.url}`; both are filled in when a device gets the document (state/documents.ts).
// This file has the owner's operations on files.
//
// Read next: upload.ts, uploads in parts; file-links.ts, the URLs for devices; read-content.ts, downloads.

import { ApiError, type FileReference, maxFileVersions } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { SecretBox } from '../access/ports/secret-box.ts'
import { principalOf } from '../access/principal.ts'
import { overQuota, type Quotas } from '../access/quotas.ts'
import { originOf } from '../audit/audit.ts'
import { usersText } from '../common/in-use.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { ContentTooLarge, type FileContents } from './ports/contents.ts'
import type { FileContent, StoredFile } from './ports/files.ts'

export type FileDeps = {
  store: Store
  now: () => number
  quotas: Quotas
  secretBox: SecretBox
  contents: FileContents
  maxFileBytes: number
}

export type FileKey = { fileName: string; version: string }

/** `announced`: the length according to the caller; `sha256`: the hash according to the caller, in hexadecimal. */
type Announced = { announced: number | undefined; sha256: string | undefined }
type GivenContent = Announced & {
  body: AsyncIterable<Buffer>
  /** Throws if the caller has lost its access while the content arrived. */
  requireAllowed: () => Promise<void>
}

/** All checks that are possible before the content is read. */
export async function requireFileRoom(
  { store, quotas, secretBox, contents, maxFileBytes }: FileDeps,
  { ownerNo }: Caller,
  key: FileKey,
  { announced, sha256 }: Announced,
): Promise<void> {
  if (announced !== undefined && announced > maxFileBytes) throw tooLarge(maxFileBytes)
  if (!contents.isOpen) {
    throw refused(
      'With DATABASE_URL the service keeps content only if files-folder is set, to a folder that all nodes share, or files-s3, ' +
        'to a bucket. A file that is kept elsewhere can be referred to.',
    )
  }
  if (!secretBox.isOpen) {
    throw refused('Files need a key to sign URLs: set JOBCAST_SECRETS_KEY or JOBCAST_SECRETS_KEY_FILE.')
  }
  const before = await store.getFile({ ownerNo, ...key })
  if (before && sha256 !== undefined && before.sha256 !== sha256) throw otherContent(key)
  const most = quotas['owner-file-bytes']
  if (before || most === 0) return
  const kept = await store.countFileBytes({ ownerNo })
  const onTheirWay = await bytesOnTheirWay(contents, ownerNo, { ...key, announced, sha256 })
  if (kept + onTheirWay + (announced ?? 1) > most) throw tooManyBytes(most)
}

/** Bytes reserved by other uploads. An upload in parts reserves its full size. */
async function bytesOnTheirWay(
  { uploads }: FileContents,
  ownerNo: number,
  content: FileKey & Announced,
): Promise<number> {
  const others = (await uploads.list(ownerNo)).filter(
    ({ fileName, version, sha256, size }) =>
      fileName !== content.fileName ||
      version !== content.version ||
      sha256 !== content.sha256 ||
      size !== content.announced,
  )
  return others.reduce((bytes, { size }) => bytes + size, 0)
}

export async function putFile(
  deps: FileDeps,
  caller: Caller,
  key: FileKey,
  given: GivenContent,
): Promise<Put<StoredFile>> {
  const { contents, maxFileBytes } = deps
  const received = await contents
    .receive(given.body, maxFileBytes, given.announced, given.sha256)
    .catch((error: unknown) => {
      throw error instanceof ContentTooLarge ? tooLarge(maxFileBytes) : error
    })
  const { size, sha256, sha1, md5 } = received
  try {
    if (size === 0) throw refused('The body has no content.')
    if (given.sha256 !== undefined && given.sha256 !== sha256) throw wrongDigest(sha256)
    // Checked again, now that the size and the hash are known, before the content is stored.
    await requireFileRoom(deps, caller, key, { announced: size, sha256 })
    await given.requireAllowed()
  } catch (error) {
    await contents.discard(received)
    throw error
  }
  return contents.keep(received, () => record(deps, caller, key, { size, sha256, sha1, md5, url: null }))
}

export function putFileReference(
  deps: FileDeps,
  caller: Caller,
  key: FileKey,
  { url, size, sha256, sha1, md5 }: FileReference,
): Promise<Put<StoredFile>> {
  if (!URL.canParse(url)) throw new ApiError('J-500', { field: 'url', detail: 'url must be a URL.' })
  return record(deps, caller, key, { url, size, sha256, sha1: sha1 ?? null, md5: md5 ?? null })
}

export async function getFile({ store }: FileDeps, { ownerNo }: Caller, key: FileKey): Promise<StoredFile> {
  const file = await store.getFile({ ownerNo, ...key })
  if (file === undefined) throw noVersion(key)
  return file
}

export async function listFileVersions(
  { store }: FileDeps,
  { ownerNo }: Caller,
  fileName: string,
  slice: Slice<number>,
): Promise<Sliced<StoredFile, number>> {
  const found = await store.listFileVersions({ ownerNo, fileName, slice })
  if (found.items.length === 0 && slice.after === undefined) {
    throw new ApiError('J-319', { detail: `There is no file ${JSON.stringify(fileName)}.` })
  }
  return found
}

/** The content is removed later, when no version needs it. */
export async function deleteFile({ store, now }: FileDeps, caller: Caller, key: FileKey): Promise<void> {
  const by = { principal: principalOf(caller), at: now(), ...originOf(caller) }
  const outcome = await store.deleteFile({ ownerNo: caller.ownerNo, ...key, ...by })
  if (outcome.kind === 'unknown-file') throw noVersion(key)
  if (outcome.kind !== 'in-use') return
  const { jobNames, scheduleNames, runIds } = outcome
  const suffix = usersText({ job: jobNames, schedule: scheduleNames, 'unfinished run': runIds })
  throw new ApiError('J-315', { suffix })
}

/** The files that a document names. Throws J-319 for the first one that does not exist. */
export async function requireFiles(
  { store }: { store: Pick<Store, 'findFiles'> },
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  refs: readonly string[] = [],
): Promise<void> {
  if (refs.length === 0) return
  const found = new Set((await store.findFiles({ ownerNo, refs: [...refs] })).map(({ ref }) => ref))
  const unknown = refs.find((ref) => !found.has(ref))
  if (unknown !== undefined) throw noFile(unknown)
}

/** J-319: a document names a file that does not exist. */
export function noFile(ref: string): ApiError {
  const detail = `The document names the file ${JSON.stringify(ref)}, but there is none.`
  return new ApiError('J-319', { field: 'document', detail })
}

export function noVersion({ fileName, version }: FileKey): ApiError {
  const detail = `There is no version ${JSON.stringify(version)} of a file ${JSON.stringify(fileName)}.`
  return new ApiError('J-319', { detail })
}

async function record(
  { store, now, quotas }: FileDeps,
  caller: Caller,
  key: FileKey,
  content: FileContent,
): Promise<Put<StoredFile>> {
  const by = { principal: principalOf(caller), at: now(), ...originOf(caller) }
  const mostBytes = quotas['owner-file-bytes']
  const limits = { most: maxFileVersions, mostBytes }
  const outcome = await store.putFile({ ownerNo: caller.ownerNo, ...key, ...content, ...by, ...limits })
  switch (outcome.kind) {
    case 'put':
      return { created: outcome.created, value: outcome.value }
    case 'other-content':
      throw otherContent(key)
    case 'too-many':
      throw new ApiError('J-912', {
        suffix: `at most ${maxFileVersions} versions of files of one owner; delete versions that are no longer used`,
      })
    case 'too-many-bytes':
      throw tooManyBytes(mostBytes)
  }
}

function tooLarge(maxFileBytes: number): ApiError {
  return new ApiError('J-904', { detail: `A file has at most ${maxFileBytes} bytes (max-file-bytes).` })
}

function tooManyBytes(limit: number): ApiError {
  return overQuota('owner-file-bytes', limit)
}

export function otherContent({ fileName, version }: FileKey): ApiError {
  const detail = `The version ${version} of the file ${fileName} has other content: put it as another version.`
  return new ApiError('J-320', { detail })
}

function wrongDigest(sha256: string): ApiError {
  return new ApiError('J-508', { detail: `The content that arrived has the sha256 ${sha256}.` })
}

function refused(detail: string): ApiError {
  return new ApiError('J-500', { detail })
}
