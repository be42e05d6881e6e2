/** The word before the name of a principal: only keys have one. */
export function principalWord(principal: string | null): 'key ' | '' {
  return principal?.startsWith('user:') ? '' : 'key '
}
