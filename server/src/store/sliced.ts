import type { Sliced } from '../domain/ports/slices.ts'

/** Takes one item more than the limit as the sign that the list goes on. */
export function sliced<T, Key>(found: T[], limit: number, keyOf: (item: T) => Key): Sliced<T, Key> {
  if (found.length <= limit) return { items: found, next: undefined }
  const items = found.slice(0, limit)
  return { items, next: keyOf(items[limit - 1] as T) }
}
