// Content-Range of a request (RFC 9110, 14.4): the part of the content that is in its body.

import { ApiError } from '@jobcast/contract'

/** `part`: undefined for an asterisk, which queries where an upload continues. */
type ContentRange = { size: number; part: { offset: number; length: number } | undefined }

/** Undefined: the body is the whole content. Throws J-500. */
export function contentRangeOf(header: string | undefined): ContentRange | undefined {
  if (header === undefined) return undefined
  const [, from, first = '', last = '', whole = ''] =
    /^bytes[ \t]+((\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/i.exec(header.trim()) ?? []
  const size = Number(whole)
  if (from === undefined || size === 0) throw invalid()
  if (from === '*') return { size, part: undefined }
  const [offset, end] = [Number(first), Number(last)]
  if (end < offset || end >= size) throw invalid()
  return { size, part: { offset, length: end - offset + 1 } }
}

function invalid(): ApiError {
  const detail =
    'Content-Range must be bytes FIRST-LAST/SIZE, or bytes */SIZE to ask where the upload continues.'
  return new ApiError('J-500', { field: 'content-range', detail })
}
