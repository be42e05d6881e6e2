// Rules for attributes of devices.

import { isAttributeName } from './selector.ts'

/** The maximum number per device, separately for attributes set by its owner and reported by the device. */
export const maxAttributes = 64
export const maxAttributeText = 256
const unfit = /[\p{Cc}\p{Cs}]/u

/** Why the attribute is invalid, as the end of a sentence that begins with its name; undefined: it is valid. */
export function attributeProblem(name: string, value: unknown): string | undefined {
  if (!isAttributeName(name)) {
    return 'is not a valid attribute name: 1 to 64 letters, digits and _ . -, beginning with a letter or _ but not with own. or reported., and not a keyword of selectors'
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return undefined
  if (typeof value === 'string' && [...value].length <= maxAttributeText && !unfit.test(value))
    return undefined
  return `must be text of at most ${maxAttributeText} characters without control characters, a number, true or false`
}

export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
