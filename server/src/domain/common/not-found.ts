// Problem details that name a missing or an existing resource. The message remains that of the catalogue.

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

/** `name`: as sent by the caller. */
export function notFound(code: NotFound, name: string | number): ApiError {
  return new ApiError(code, { detail: `There is no ${nouns[code]} ${JSON.stringify(name)}.` })
}

/** The precondition (If-Match or If-None-Match) does not hold. */
export function notExpected({ noun }: Resource, name: string, { expected }: Expectation): ApiError {
  if (expected !== 'nothing') return new ApiError('J-312')
  return new ApiError('J-312', { detail: `A ${noun} ${JSON.stringify(name)} already exists.` })
}
