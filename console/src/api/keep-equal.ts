/** `next`, with the parts of `previous` that are equal, so that components whose part has not changed need not redraw. For JSON only. */
export function keepEqual<T>(previous: unknown, next: T): T {
  if (Object.is(previous, next)) return next
  if (!isContainer(previous) || !isContainer(next)) return next
  if (Array.isArray(previous) !== Array.isArray(next)) return next
  const names = Object.keys(next)
  let isSame = names.length === Object.keys(previous).length
  const kept = (Array.isArray(next) ? [] : {}) as Container
  for (const name of names) {
    kept[name] = keepEqual(previous[name], next[name])
    if (kept[name] !== previous[name] || !(name in previous)) isSame = false
  }
  return (isSame ? previous : kept) as T
}

type Container = Record<string, unknown>

function isContainer(value: unknown): value is Container {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
}
