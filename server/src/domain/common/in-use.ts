// What is still needed is not deleted: J-315 goes on with what needs it. Free of schemas, so that threads of the store can use it.

/** So many of each kind are named; the store looks for one more. */
export const namedUsers = 5

/** By their nouns: "by the schedules a, b, and by the unfinished run 12". `totals`: of those of which it is known how many they are. */
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
