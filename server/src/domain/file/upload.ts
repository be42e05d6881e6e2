// Content that arrives in parts, so that an upload goes on where it was cut. When all of it is there it is put as a file is that
// arrives at once: by the same checks, which have the last word.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { Put } from '../common/ports/slices.ts'
import { type FileDeps, type FileKey, otherContent, putFile, requireFileRoom } from './file.ts'
import { ContentTooLarge } from './ports/contents.ts'
import type { StoredFile } from './ports/files.ts'
import type { UploadKey } from './ports/uploads.ts'

/** Of one owner that have begun and have not ended. */
const maxUploads = 32

/** `size`: of all of it. */
type WholeContent = { size: number; sha256: string }
type ContentPart = { offset: number; length: number; body: AsyncIterable<Buffer> }

type UploadOutcome = { kind: 'put'; put: Put<StoredFile> } | { kind: 'partly'; received: number }

/** Without a part: asks where it goes on. */
export async function putPart(
  deps: FileDeps,
  caller: Caller,
  key: FileKey,
  { size, sha256 }: WholeContent,
  part: ContentPart | undefined,
): Promise<UploadOutcome> {
  const { store, contents } = deps
  const { ownerNo } = caller
  const upload = { ownerNo, fileName: key.fileName, version: key.version, sha256, size }
  await requireFileRoom(deps, caller, key, { announced: size, sha256 })
  const before = await store.getFile({ ownerNo, ...key })
  if (before) {
    if (before.url !== null) throw otherContent(key)
    // A crash may have left it.
    await contents.uploads.remove(upload)
    return { kind: 'put', put: { created: false, value: before } }
  }
  const received = part ? await append(deps, caller, upload, part) : await contents.uploads.receivedOf(upload)
  if (received < size) return { kind: 'partly', received }
  return finish(deps, caller, upload)
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

/** Judged after it has begun, so that of many that begin at once none is overlooked. */
async function requireUploadRoom(deps: FileDeps, caller: Caller, upload: UploadKey): Promise<void> {
  const { ownerNo, size: announced, sha256 } = upload
  const begun = await deps.contents.uploads.list(ownerNo)
  if (begun.length > maxUploads) {
    const suffix = `at most ${maxUploads} uploads that have begun and have not ended; they expire after a day`
    throw new ApiError('J-912', { suffix })
  }
  await requireFileRoom(deps, caller, upload, { announced, sha256 })
}

async function finish(deps: FileDeps, caller: Caller, upload: UploadKey): Promise<UploadOutcome> {
  const { uploads } = deps.contents
  const { ownerNo, fileName, version, size, sha256 } = upload
  const key = { fileName, version }
  return uploads.finish(upload, async (): Promise<UploadOutcome> => {
    const body = await uploads.read(upload)
    if (body === undefined) {
      // Somebody else has finished it, or it was wrong.
      const value = await deps.store.getFile({ ownerNo, ...key })
      if (value?.sha256 === sha256) return { kind: 'put', put: { created: false, value } }
      return { kind: 'partly', received: 0 }
    }
    try {
      const put = await putFile(deps, caller, key, { body, announced: size, sha256 })
      await uploads.remove(upload)
      return { kind: 'put', put }
    } catch (error) {
      // It will never be right.
      if (error instanceof ApiError && ['J-320', 'J-508'].includes(error.code)) await uploads.remove(upload)
      throw error
    } finally {
      // Where there is no room nothing of it was read.
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
