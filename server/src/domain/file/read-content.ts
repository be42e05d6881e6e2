// The content of a version, or a range of it (RFC 9110, 14).

import type { Readable } from 'node:stream'
import { ApiError } from '@jobcast/contract'
import { StorageUnavailable } from '../common/ports/storage-errors.ts'
import type { FileContents } from './ports/contents.ts'
import type { FileContent } from './ports/files.ts'

/** Both ends are included. */
export type ByteRange = { first: number; last: number }

type ContentRequest = { range: string | undefined; ifRange: string | undefined }

/** Undefined: the whole content, also for several or malformed ranges. Throws J-509. */
export function rangeOf(
  { size, sha256 }: Pick<FileContent, 'size' | 'sha256'>,
  { range, ifRange }: ContentRequest,
): ByteRange | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== `"${sha256}"`)) return undefined
  const match = /^bytes=[ \t]*(\d{0,16})-(\d{0,16})[ \t]*$/i.exec(range)
  const [, from = '', to = ''] = match ?? []
  if (from === '' && to === '') return undefined
  if (from === '') {
    const length = Number(to)
    if (length === 0) throw new ApiError('J-509')
    return { first: Math.max(0, size - length), last: size - 1 }
  }
  const [first, last] = [Number(from), to === '' ? size - 1 : Number(to)]
  if (to !== '' && last < first) return undefined
  if (first >= size) throw new ApiError('J-509')
  return { first, last: Math.min(last, size - 1) }
}

/** Only for content that is stored here. */
export async function openContent(
  { contents }: { contents: FileContents },
  { size, sha256 }: Pick<FileContent, 'size' | 'sha256'>,
  range: ByteRange = { first: 0, last: size - 1 },
): Promise<Readable> {
  const stream = contents.isOpen ? await contents.open(sha256, range) : undefined
  if (stream === undefined) throw new StorageUnavailable(`the content ${sha256} of a file is missing`)
  return stream
}
