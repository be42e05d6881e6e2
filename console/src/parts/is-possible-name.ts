/** Whether a text of the address can be the name of a job or the ID of a device: the API accepts no others. */
export function isPossibleName(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(text)
}
