// Reads fields of a document with the expected type, or throws a refusal that names the field.

/** Why the document is refused, worded for the user who triggered it. */
export class Refused extends Error {}

/** Numbers and booleans are converted to strings: a placeholder that is a whole string takes the type of its parameter. */
export function texts(value: unknown, name: string): string[] {
  if (
    !Array.isArray(value) ||
    !value.every((each) => ['string', 'number', 'boolean'].includes(typeof each))
  ) {
    throw new Refused(`${name} is not a list of strings`)
  }
  return value.map(String)
}

export function optionalText(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== 'string') throw new Refused(`${name} is not a string`)
  return value
}

/** AWS's documents use the string "true". */
export function flag(value: unknown, name: string): boolean {
  if (value === undefined || value === false || value === 'false') return false
  if (value === true || value === 'true') return true
  throw new Refused(`${name} is neither true nor false`)
}

export function optionalCount(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number
  throw new Refused(`${name} is not an integer`)
}
