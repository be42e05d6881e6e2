// The schema of a job's parameters: the part of JSON Schema 2020-12 that describes an object of plain values.

import { MatchBudget } from './linear-pattern.ts'
import { ParameterError } from './parameter-error.ts'
import { type ParameterProperty, scalarTypes } from './parameter-property.ts'
import { patternCache } from './pattern-cache.ts'
import { PatternError } from './pattern-syntax.ts'
import { valueProblem } from './value-problem.ts'

export type ParameterSchema = {
  $schema?: string
  type: 'object'
  title?: string
  description?: string
  properties?: Record<string, ParameterProperty>
  required?: string[]
  additionalProperties?: false
}

/** The maximum size of the schema as JSON, and of the values as JSON. */
export const maxParametersBytes = 16 * 1024
export const maxParameters = 64
/** The maximum number of steps in all patterns of a schema, including repetitions. */
export const maxSchemaSteps = 4000
export const schemaDialect = 'https://json-schema.org/draft/2020-12/schema'
const nameRule = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `steps`: those of the patterns so far. */
type SchemaWork = { budget: MatchBudget; steps: number }

type Keyword = 'text' | 'boolean' | 'count' | 'number' | 'list' | 'value' | 'pattern' | 'items' | 'type'
const anyKeywords: Record<string, Keyword> = {
  type: 'type',
  title: 'text',
  description: 'text',
  default: 'value',
  examples: 'list',
  deprecated: 'boolean',
  writeOnly: 'boolean',
  enum: 'list',
  const: 'value',
}
const numberKeywords: Record<string, Keyword> = {
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
}
const keywordsOf: Record<string, Record<string, Keyword>> = {
  string: { ...anyKeywords, minLength: 'count', maxLength: 'count', pattern: 'pattern' },
  number: { ...anyKeywords, ...numberKeywords },
  integer: { ...anyKeywords, ...numberKeywords },
  boolean: anyKeywords,
  array: { ...anyKeywords, items: 'items', minItems: 'count', maxItems: 'count', uniqueItems: 'boolean' },
}
const ranges = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minimum', 'maximum'],
  ['minimum', 'exclusiveMaximum'],
  ['exclusiveMinimum', 'maximum'],
  ['exclusiveMinimum', 'exclusiveMaximum'],
] as const
const rootKeywords = [
  ...['$schema', 'type', 'title', 'description', 'properties', 'required', 'additionalProperties'],
]

export function isParameterName(name: string): boolean {
  return nameRule.test(name) && name !== '__proto__'
}

/** The environment variable of the parameter for handlers of the agent: upper case, `-` becomes `_`. */
export function parameterVariable(name: string): string {
  return `JOBCAST_PARAM_${inUpperCase(name)}`
}

/** The environment variable of a secret. */
export function secretVariable(name: string): string {
  return `JOBCAST_SECRET_${inUpperCase(name)}`
}

/** The environment variable of a file, which contains the path of the content. */
export function fileVariable(fileName: string): string {
  return `JOBCAST_FILE_${inUpperCase(fileName)}`
}

function inUpperCase(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}

/** Throws a ParameterError that names the field. `at`: the field that contains the schema. */
export function checkParameterSchema(value: unknown, at = 'parameters'): ParameterSchema {
  const schema = asObject(value, at, 'a JSON Schema of type object')
  if (new TextEncoder().encode(JSON.stringify(schema)).length > maxParametersBytes) {
    throw new ParameterError(at, `must be at most ${maxParametersBytes / 1024} KiB of JSON`)
  }
  refuseOthers(schema, rootKeywords, at)
  if (schema.$schema !== undefined && schema.$schema !== schemaDialect) {
    throw new ParameterError(`${at}.$schema`, `must be ${schemaDialect}`)
  }
  if (schema.type !== 'object') throw new ParameterError(`${at}.type`, 'must be "object"')
  for (const name of ['title', 'description']) checkText(schema[name], `${at}.${name}`)
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    throw new ParameterError(
      `${at}.additionalProperties`,
      'must be false: only declared parameters are accepted',
    )
  }
  const properties = asObject(schema.properties ?? {}, `${at}.properties`, 'an object')
  checkProperties(properties, `${at}.properties`)
  checkRequired(schema.required ?? [], properties, `${at}.required`)
  return schema as ParameterSchema
}

function checkProperties(properties: Record<string, unknown>, at: string): void {
  const work = { budget: new MatchBudget(), steps: 0 }
  const names = Object.keys(properties)
  if (names.length > maxParameters) throw new ParameterError(at, `must have at most ${maxParameters} entries`)
  const variables = new Map<string, string>()
  for (const name of names) {
    const field = `${at}.${name}`
    if (!isParameterName(name)) {
      const rule = '1 to 64 letters, digits, _ and -, beginning with a letter or _'
      throw new ParameterError(field.slice(0, 200), `is no name of a parameter: ${rule}`)
    }
    const other = variables.get(parameterVariable(name))
    if (other !== undefined) {
      throw new ParameterError(
        field,
        `has the same environment variable as ${other}: ${parameterVariable(name)}`,
      )
    }
    variables.set(parameterVariable(name), name)
    checkProperty(properties[name], field, work)
  }
}

function checkRequired(required: unknown, properties: Record<string, unknown>, at: string): void {
  if (!Array.isArray(required) || new Set(required).size < required.length) {
    throw new ParameterError(at, 'must be a list of names, each once')
  }
  for (const [index, name] of required.entries()) {
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) {
      throw new ParameterError(`${at}.${index}`, 'must be the name of one of the properties')
    }
  }
}

function checkProperty(value: unknown, at: string, work: SchemaWork, isItem = false): void {
  const property = asObject(value, at, 'an object with a type')
  const types: readonly string[] = isItem ? scalarTypes : [...scalarTypes, 'array']
  if (typeof property.type !== 'string' || !types.includes(property.type)) {
    throw new ParameterError(`${at}.type`, `must be one of ${types.join(', ')}`)
  }
  const keywords = keywordsOf[property.type] as Record<string, Keyword>
  refuseOthers(property, Object.keys(keywords), at)
  for (const [name, keyword] of Object.entries(keywords))
    checkKeyword(property[name], keyword, `${at}.${name}`, work)
  if (property.type === 'array' && property.items === undefined) {
    throw new ParameterError(`${at}.items`, 'is missing: an array must declare the type of its items')
  }
  if (isItem) refuseInItems(property, at)
  checkRanges(property as ParameterProperty, at)
  checkOwnValues(property as ParameterProperty, at, work.budget)
}

/** Refuses empty ranges, because the parameter could never have a value. */
function checkRanges(property: ParameterProperty, at: string): void {
  for (const [least, most] of ranges) {
    const [from, to] = [property[least], property[most]]
    if (from === undefined || to === undefined) continue
    const isExclusive = least.startsWith('exclusive') || most.startsWith('exclusive')
    if (from < to || (from === to && !isExclusive)) continue
    const rule = isExclusive ? 'greater than' : 'at least'
    throw new ParameterError(`${at}.${most}`, `must be ${rule} ${least}, which is ${from}`)
  }
}

function checkText(value: unknown, at: string): void {
  if (value !== undefined && typeof value !== 'string') throw new ParameterError(at, 'must be text')
}

function checkKeyword(value: unknown, keyword: Keyword, at: string, work: SchemaWork): void {
  if (value === undefined) return
  if (keyword === 'text') checkText(value, at)
  if (keyword === 'boolean' && typeof value !== 'boolean')
    throw new ParameterError(at, 'must be true or false')
  if (keyword === 'count' && !(Number.isSafeInteger(value) && (value as number) >= 0)) {
    throw new ParameterError(at, 'must be an integer of at least 0')
  }
  if (keyword === 'number' && typeof value !== 'number') throw new ParameterError(at, 'must be a number')
  if (at.endsWith('.multipleOf') && !((value as number) > 0)) {
    throw new ParameterError(at, 'must be greater than 0')
  }
  if (keyword === 'list' && !(Array.isArray(value) && value.length > 0)) {
    throw new ParameterError(at, 'must be a list with at least one value')
  }
  if (keyword === 'pattern') checkPattern(value, at, work)
  if (keyword === 'items') checkProperty(value, at, work, true)
}

function checkPattern(value: unknown, at: string, work: SchemaWork): void {
  if (typeof value !== 'string') throw new ParameterError(at, 'must be text')
  try {
    work.steps += patternCache.get(value).size
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new ParameterError(at, `is no supported regular expression: ${error.message}`)
  }
  if (work.steps <= maxSchemaSteps) return
  const rule = `all patterns of a job together have at most ${maxSchemaSteps} steps, with their repetitions`
  throw new ParameterError(at, `is too large: ${rule}`)
}

function refuseInItems(property: Record<string, unknown>, at: string): void {
  for (const name of ['default', 'writeOnly']) {
    if (property[name] === undefined) continue
    throw new ParameterError(`${at}.${name}`, 'belongs to the array, not to its items')
  }
}

/** Default, enum and const must be valid values of the property. Secrets must not have them, because they would be readable. */
function checkOwnValues(property: ParameterProperty, at: string, budget: MatchBudget): void {
  const { default: initial, enum: choices = [], const: only, ...rules } = property
  if (property.writeOnly) {
    for (const name of ['default', 'enum', 'const', 'examples'] as const) {
      if (property[name] === undefined) continue
      throw new ParameterError(`${at}.${name}`, 'would be readable: not allowed for a secret (writeOnly)')
    }
  }
  const check = (value: unknown, by: ParameterProperty, field: string) => {
    const problem = valueProblem(by, value, budget)
    if (problem !== undefined) throw new ParameterError(`${field}${problem.at}`, problem.message)
  }
  for (const [index, choice] of choices.entries()) check(choice, rules, `${at}.enum.${index}`)
  if (only !== undefined) check(only, rules, `${at}.const`)
  if (initial !== undefined) check(initial, property, `${at}.default`)
}

function refuseOthers(object: Record<string, unknown>, known: readonly string[], at: string): void {
  const other = Object.keys(object).find((name) => !known.includes(name))
  if (other === undefined) return
  throw new ParameterError(
    `${at}.${other}`.slice(0, 200),
    `is not supported here; known are ${known.join(', ')}`,
  )
}

function asObject(value: unknown, at: string, expected: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new ParameterError(at, `must be ${expected}`)
}
