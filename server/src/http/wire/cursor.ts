// A cursor is the position where the previous page ended, encoded so that clients treat it as opaque.

import { ApiError } from '@jobcast/contract'
import type { Slice, Sliced } from '../../domain/common/ports/slices.ts'

export function toPage<T, Key, Out>(sliced: Sliced<T, Key>, toOut: (item: T) => Out) {
  return {
    items: sliced.items.map(toOut),
    nextCursor:
      sliced.next === undefined ? null : Buffer.from(JSON.stringify(sliced.next)).toString('base64url'),
  }
}

/** `max`: the maximum of the column that the list is ordered by. */
export function numberSlice(
  query: { limit: number; cursor?: string },
  max = Number.MAX_SAFE_INTEGER,
): Slice<number> {
  const isKey = (value: unknown) => Number.isSafeInteger(value) && Math.abs(value as number) <= max
  return { limit: query.limit, after: decode(query.cursor, isKey) }
}

export function textSlice(query: { limit: number; cursor?: string }): Slice<string> {
  return { limit: query.limit, after: decode(query.cursor, isStorable) }
}

/** A forged cursor may contain text that the database cannot store. */
function isStorable(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

function decode<Key>(cursor: string | undefined, isKey: (value: unknown) => boolean): Key | undefined {
  if (cursor === undefined) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (isKey(value)) return value as Key
  } catch {
    // Not JSON: refused below, like any cursor we did not issue.
  }
  throw new ApiError('J-500', {
    field: 'cursor',
    detail: 'cursor must be the nextCursor of an earlier page of this list.',
  })
}
