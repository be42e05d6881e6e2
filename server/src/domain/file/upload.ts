// Uploads in parts, which can continue after an interruption. A complete upload is put like a file that is sent in one
// request, with the same checks.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { Put } from '../common/ports/slices.ts'
import { type FileDeps, type FileKey, otherContent, putFile, requireFileRoom } from './file.ts'
import { ContentTooLarge } from './ports/contents.ts'
import type { StoredFile } from './ports/files.ts'
import type { UploadKey } from './ports/uploads.ts'

/** Maximum number of unfinished uploads per owner. */
const maxUploads = 32

/** `size`: the total size. `requireAllowed`: throws if the caller has lost its access while the part arrived. */
type WholeContent = { size: number; sha256: string; requireAllowed: () => Promise<void> }
type ContentPart = { offset: number; length: number; body: AsyncIterable<Buffer> }

type UploadOutcome = { kind: 'put'; put: Put<StoredFile> } | { kind: 'partly'; received: number }

/** Without a part: returns where the upload continues. */
export async function putPart(
  deps: FileDeps,
  caller: Caller,
  key: FileKey,
  { size, sha256, requireAllowed }: WholeContent,
  part: ContentPart | undefined,
): Promise<UploadOutcome> {
  const { store, contents } = deps
  const { ownerNo } = caller
  const upload = { ownerNo, fileName: key.fileName, version: key.version, sha256, size }
  await requireFileRoom(deps, caller, key, { announced: size, sha256 })
  const before = await store.getFile({ ownerNo, ...key })
  if (before) {
    if (before.url !== null) throw otherContent(key)
    // An upload may be left over from a crash.
    await contents.uploads.remove(upload)
    return { kind: 'put', put: { created: false, value: before } }
  }
  const received = part ? await append(deps, caller, upload, part) : await contents.uploads.receivedOf(upload)
  if (received < size) return { kind: 'partly', received }
  return finish(deps, caller, upload, requireAllowed)
}

async function append(deps: FileDeps, caller: Caller, upload: UploadKey, part: ContentPart): Promise<number> {
  const { uploads } = deps.contents
  if (part.offset === 0 && (await uploads.begin(upload))) {
    await requireUploadRoom(deps, caller, upload).catch(async (error: unknown) => {
      await uploads.remove(upload)
      throw error
    })
  }
  const { kind, received } = await uploads.append(upload, part).catch((error: unknown) => {
    throw error instanceof ContentTooLarge ? longerThanRange() : error
  })
  if (kind === 'elsewhere') throw new ApiError('J-323', { suffix: String(received) })
  return received
}

/** Checked after the upload has begun, so that concurrent uploads count each other. */
async function requireUploadRoom(deps: FileDeps, caller: Caller, upload: UploadKey): Promise<void> {
  const { ownerNo, size: announced, sha256 } = upload
  const begun = await deps.contents.uploads.list(ownerNo)
  if (begun.length > maxUploads) {
    const suffix = `at most ${maxUploads} uploads that have begun and have not ended; they expire after a day`
    throw new ApiError('J-912', { suffix })
  }
  await requireFileRoom(deps, caller, upload, { announced, sha256 })
}

async function finish(
  deps: FileDeps,
  caller: Caller,
  upload: UploadKey,
  requireAllowed: () => Promise<void>,
): Promise<UploadOutcome> {
  const { uploads } = deps.contents
  const { ownerNo, fileName, version, size, sha256 } = upload
  const key = { fileName, version }
  return uploads.finish(upload, async (): Promise<UploadOutcome> => {
    const body = await uploads.read(upload)
    if (body === undefined) {
      // A concurrent call has finished it, or its content was wrong.
      const value = await deps.store.getFile({ ownerNo, ...key })
      if (value?.sha256 === sha256) return { kind: 'put', put: { created: false, value } }
      return { kind: 'partly', received: 0 }
    }
    try {
      const put = await putFile(deps, caller, key, { body, announced: size, sha256, requireAllowed })
      await uploads.remove(upload)
      return { kind: 'put', put }
    } catch (error) {
      // Wrong content cannot become right.
      if (error instanceof ApiError && ['J-320', 'J-508'].includes(error.code)) await uploads.remove(upload)
      throw error
    } finally {
      // Without enough space, the body was not read.
      body.destroy()
    }
  })
}

function longerThanRange(): ApiError {
  return new ApiError('J-500', {
    field: 'content-range',
    detail: 'The body is longer than Content-Range says.',
  })
}
