// J-315: a resource in use cannot be deleted, and the error names its users. Imports no schemas, so that store threads can use it.

/** The error names at most this many users of each kind; the store searches for one more. */
export const namedUsers = 5

/** "by the schedules a, b, and by the unfinished run 12". `totals`: counts of the kinds whose total is known. */
export function usersText(
  users: Record<string, readonly (string | number)[]>,
  totals: Record<string, number> = {},
): string {
  const named = Object.entries(users).filter(([, names]) => names.length > 0)
  const parts = named.map(([noun, names]) => {
    const more = names.length > namedUsers ? ' and others' : ''
    const total = (totals[noun] ?? 0) > namedUsers ? `${totals[noun]} ` : ''
    return `by the ${total}${noun}${names.length === 1 ? '' : 's'} ${names.slice(0, namedUsers).join(', ')}${more}`
  })
  return parts.join(', and ')
}
