/** Before the name of who acts: a key is called one, a person is not. */
export function principalWord(principal: string | null): 'key ' | '' {
  return principal?.startsWith('user:') ? '' : 'key '
}
