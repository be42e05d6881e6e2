// Names what is missing, for problem details. The message stays that of the catalogue.

import { ApiError } from '@jobcast/contract'

const nouns = {
  'J-301': 'job',
  'J-302': 'execution',
  'J-304': 'run',
  'J-309': 'group',
  'J-310': 'schedule',
  'J-311': 'window',
  'J-805': 'key',
  'J-806': 'owner',
} as const

/** `name`: as the caller gave it. */
export function notFound(code: keyof typeof nouns, name: string | number): ApiError {
  return new ApiError(code, { detail: `There is no ${nouns[code]} ${JSON.stringify(name)}.` })
}
