// Schema errors as messages, with the path they belong to.

import { mustBe, Name, NewDeviceId, NewJobName, Prose } from '@jobcast/contract'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** `path` leads from the value to the invalid part. */
type SchemaProblem = { path: string[]; message: string }
export type Check = (value: unknown) => SchemaProblem[]

const aName = 'must be 1 to 128 characters without control characters, and not only spaces'
const patternWords = new Map([
  [patternOf(Name), aName],
  [patternOf(NewJobName), `${aName}, and not . or ..`],
  [patternOf(NewDeviceId), `${aName}, and without / + # ?`],
  [patternOf(Prose), 'must be text without control characters'],
])

function patternOf(schema: TSchema): unknown {
  return (schema as { pattern?: unknown }).pattern
}

export function buildCheck(schema: TSchema): Check {
  const validator = Compile(schema)
  return (value) => {
    if (validator.Check(value)) return []
    // An unknown field is reported twice: for itself and for its object.
    const errors = validator.Errors(value).filter(({ keyword }) => keyword !== 'boolean')
    return inOneLine(errors, schema).flatMap((error) => problemsOf(error, value))
  }
}

/** For a union with a description, reports what the value must be instead of the errors of every alternative. */
function inOneLine(errors: SchemaError[], schema: TSchema): SchemaError[] {
  const described = errors.flatMap((error) => {
    const wanted = error.keyword === 'anyOf' ? wordsAt(schema, error.schemaPath) : undefined
    return wanted === undefined ? [] : [{ ...error, message: `must be ${wanted}` }]
  })
  const isCovered = ({ schemaPath }: SchemaError) =>
    described.some((each) => schemaPath === each.schemaPath || schemaPath.startsWith(`${each.schemaPath}/`))
  return [...errors.filter((error) => !isCovered(error)), ...described]
}

function wordsAt(schema: TSchema, schemaPath: string): unknown {
  const found = schemaPath
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], schema)
  return (found as Record<string, unknown> | undefined)?.[mustBe]
}

type SchemaError = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

function problemsOf(error: SchemaError, value: unknown): SchemaProblem[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const at = (more: string[], message: string) => ({ path: [...path, ...more], message })
  switch (error.keyword) {
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => at([name], 'unknown field'))
    case 'required':
      return error.params.requiredProperties.map((name) => at([], `${name} is missing`))
    case 'uniqueItems':
      return error.params.duplicateItems.map((index) => at([String(index)], 'duplicate value'))
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
