// Values of statusDetails have 1 to 1,024 characters and no control characters.

export type Details = Record<string, string>

const longestDetail = 1024

export function detail(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim()
  const short = clean.length <= longestDetail ? clean : [...clean].slice(0, longestDetail).join('')
  return short === '' ? '-' : short
}

/** Undefined fields are left out. */
export function details(fields: Record<string, string | number | undefined>): Details {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, detail(String(value))]),
  )
}
