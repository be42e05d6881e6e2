/** Nesting limit for received JSON, so that recursive code cannot overflow the stack. */
export const maxJsonDepth = 32

export function isTooDeep(value: unknown, depth = maxJsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) return value.some((element) => isTooDeep(element, depth - 1))
  return Object.values(value).some((element) => isTooDeep(element, depth - 1))
}
