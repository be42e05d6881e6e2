/** Whether a text in the address is valid as a job name or device ID; the API accepts no others. */
export function isPossibleName(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(text)
}
