// Converts errors of Ajv to J-500 with the field and its rule. Values are not repeated, because they may be secrets.

import { ApiError, mustBe } from '@jobcast/contract'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'

type Schema = Record<string, unknown>
/** With Ajv's option `verbose`. */
type Violation = FastifySchemaValidationError & { schema?: unknown; parentSchema?: Schema }

export function toValidationError(violations: Violation[], context = 'body'): ApiError {
  const [first] = violations
  if (first === undefined) return new ApiError('J-500')
  const { additionalProperty, missingProperty } = first.params
  // Lists in queries have no indexes, so the error names the parameter.
  const path = context === 'querystring' ? first.instancePath.replace(/\/\d+$/, '') : first.instancePath
  const field = fieldName(path, additionalProperty ?? missingProperty) || context
  return new ApiError('J-500', { field, detail: `${describe(field, first, violations)}.` })
}

function describe(field: string, violation: Violation, all: Violation[]): string {
  const { keyword, parentSchema = {} } = violation
  const known = `known are ${Object.keys((parentSchema.properties as object) ?? {}).join(', ')}`
  if (keyword === 'additionalProperties') return `unknown field ${field}; ${known}`
  if (keyword === 'required') return `${field} is required`
  if (keyword === 'minProperties' || keyword === 'maxProperties') {
    return `${field} must have ${keyword === 'minProperties' ? 'at least' : 'at most'} ${limitOf(violation)} field; ${known}`
  }
  const union = all.find((each) => each.keyword === 'anyOf')
  const wanted = union?.parentSchema?.[mustBe]
  if (union?.instancePath === violation.instancePath && wanted) return `${field} must be ${wanted}`
  const options = union?.parentSchema?.enum
  if (Array.isArray(options)) return `${field} must be one of ${options.join(', ')}`
  const mayBeNull = union && (union.schema as Schema[]).some(({ type }) => type === 'null')
  return `${field} must ${requirement(violation)}${mayBeNull ? ', or null' : ''}`
}

function requirement(violation: Violation): string {
  const { keyword, params, parentSchema = {} } = violation
  switch (keyword) {
    case 'type':
      return `be ${typeNames[String(params.type)] ?? `of type ${params.type}`}`
    case 'pattern':
    case 'minLength':
    case 'format':
      return `be ${parentSchema[mustBe] ?? `text that matches ${params.pattern ?? parentSchema.format}`}`
    case 'maxLength':
      return `have at most ${limitOf(violation)} characters`
    case 'const':
      return `be ${JSON.stringify(params.allowedValue)}`
    case 'enum':
      return `be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'minimum':
    case 'maximum':
      return `be ${range(parentSchema)}`
    case 'minItems':
      return `have at least ${limitOf(violation)} ${limitOf(violation) === 1 ? 'item' : 'items'}`
    case 'maxItems':
      return `have at most ${limitOf(violation)} items`
    case 'uniqueItems':
      return 'have no duplicate items'
    default:
      return violation.message?.replace(/^must /, '') ?? 'be valid'
  }
}

const typeNames: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'a JSON object',
  string: 'a string',
}

function limitOf({ params }: Violation): number {
  return params.limit as number
}

function range({ minimum, maximum }: Schema): string {
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return `at least ${minimum}`
  return minimum === undefined ? `at most ${maximum}` : `between ${minimum} and ${maximum}`
}

const maxNameLength = 100

/** `/deviceIds/3` becomes `deviceIds[3]`; a missing or unknown property is appended. */
function fieldName(path: string, property: unknown): string {
  const segments = path.split('/').slice(1)
  if (property !== undefined) segments.push(String(property))
  let name = ''
  for (const segment of segments) {
    const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(plain)) name += `[${plain}]`
    else name += name === '' ? plain : `.${plain}`
  }
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
}
