// Builds paths: `path`/job/api/jobs/${jobName}`` encodes the interpolated names.

import { InvalidName } from './errors.ts'

export function path(parts: TemplateStringsArray, ...names: (string | number)[]): string {
  return parts.reduce((whole, part, index) => `${whole}${segment(names[index - 1])}${part}`)
}

/** An empty name or dots would lead to another route. */
function segment(name: string | number | undefined): string {
  const text = String(name ?? '')
  if (text === '' || text === '.' || text === '..')
    throw new InvalidName(`"${text}" cannot be used as a name`)
  return encodeURIComponent(text)
}

/** Undefined values are omitted. */
export function queryText(query: object): string {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) given.append(key, String(value))
  }
  return given.size === 0 ? '' : `?${given}`
}
