// What a schema has against a value, in words, and where.

import { Name, NewDeviceId, NewJobName, Prose } from '@jobcast/contract'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** `path` leads from the value to the trouble. */
export type Complaint = { path: string[]; words: string }
export type Complain = (value: unknown) => Complaint[]

const aName = 'must be 1 to 128 characters, not only blanks, without control characters'
const patternWords = new Map([
  [patternOf(Name), aName],
  [patternOf(NewJobName), `${aName}, and not . or ..`],
  [patternOf(NewDeviceId), `${aName}, and without / + # ?`],
  [patternOf(Prose), 'must be text without control characters'],
])

function patternOf(schema: TSchema): unknown {
  return (schema as { pattern?: unknown }).pattern
}

export function buildComplain(schema: TSchema): Complain {
  const validator = Compile(schema)
  return (value) => {
    if (validator.Check(value)) return []
    // A field that is not allowed is told twice: of itself, and of the object that holds it.
    const errors = validator.Errors(value).filter(({ keyword }) => keyword !== 'boolean')
    return errors.flatMap((error) => complaintsOf(error, value))
  }
}

type SchemaError = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

function complaintsOf(error: SchemaError, value: unknown): Complaint[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const at = (more: string[], words: string) => ({ path: [...path, ...more], words })
  switch (error.keyword) {
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => at([name], 'is no field that is known here'))
    case 'required':
      return error.params.requiredProperties.map((name) => at([], `${name} is missing`))
    case 'uniqueItems':
      return error.params.duplicateItems.map((index) => at([String(index)], 'is there twice'))
    case 'type':
      return [at([], typeWords(String(error.params.type), valueAt(value, path)))]
    case 'enum':
      return [at([], `must be one of ${error.params.allowedValues.join(', ')}`)]
    case 'pattern':
      return [at([], patternWords.get(error.params.pattern) ?? error.message)]
    default:
      return [at([], error.message)]
  }
}

function typeWords(wanted: string, value: unknown): string {
  const article = /^[aeio]/.test(wanted) ? 'an' : 'a'
  const hint = wanted === 'string' && typeof value !== 'object' ? ' (put it in quotes)' : ''
  return `must be ${article} ${wanted}, not ${described(value)}${hint}`
}

function described(value: unknown): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'a string' : `the ${typeof value} ${value}`
}

function valueAt(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
}
