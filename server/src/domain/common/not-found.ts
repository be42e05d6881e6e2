// Names what is missing, or there already, for problem details. The message stays that of the catalogue.

import { ApiError, type Resource, resources } from '@jobcast/contract'
import type { Expectation } from './entity-tag.ts'

const nouns: Partial<Record<string, string>> = {
  ...Object.fromEntries(Object.values(resources).map(({ notFound, noun }) => [notFound, noun])),
  'J-302': 'execution',
  'J-304': 'run',
  'J-805': 'key',
  'J-806': 'owner',
}

type NotFound = (typeof resources)[keyof typeof resources]['notFound'] | 'J-302' | 'J-304' | 'J-805' | 'J-806'

/** `name`: as the caller gave it. */
export function notFound(code: NotFound, name: string | number): ApiError {
  return new ApiError(code, { detail: `There is no ${nouns[code]} ${JSON.stringify(name)}.` })
}

/** What is there is not what the caller expects: If-Match or If-None-Match. */
export function notExpected({ noun }: Resource, name: string, { expected }: Expectation): ApiError {
  if (expected !== 'nothing') return new ApiError('J-312')
  return new ApiError('J-312', { detail: `There is a ${noun} ${JSON.stringify(name)} already.` })
}
