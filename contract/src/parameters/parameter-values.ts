// Validates the values of a run's parameters against the schema of its job.

import { MatchBudget } from './linear-pattern.ts'
import { maxParametersBytes, type ParameterSchema } from './parameter-schema.ts'
import { patternCache } from './pattern-cache.ts'
import {
  type DocumentTemplate,
  namesUsed,
  type ParameterValue,
  type ParameterValues,
  type SecretValues,
} from './template.ts'
import { valueProblem } from './value-problem.ts'

/** `name`: the parameter, or empty for all; `field`: the exact field; `message` is the end of a sentence. */
export type ParameterProblem = { name: string; field: string; message: string }
export type JudgedParameters = { values: ParameterValues; problems: ParameterProblem[] }

/** Shown instead of a secret. */
export const maskedSecret = '********'

/**
 * Returns the values with defaults filled in, and all problems. `used`: parameters that the document uses; these need a value
 * even if the schema does not require them.
 */
export function judgeParameters(
  schema: ParameterSchema | undefined,
  given: unknown,
  used: readonly string[] = [],
  at = 'parameters',
): JudgedParameters {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { values: {}, problems: [{ name: '', field: at, message: 'must be an object' }] }
  }
  if (new TextEncoder().encode(JSON.stringify(given)).length > maxParametersBytes) {
    const message = `must be at most ${maxParametersBytes / 1024} KiB of JSON`
    return { values: {}, problems: [{ name: '', field: at, message }] }
  }
  const properties = schema?.properties ?? {}
  const values: Record<string, ParameterValue> = {}
  const problems: ParameterProblem[] = []
  const budget = new MatchBudget()
  for (const name of Object.keys(given).filter((name) => !Object.hasOwn(properties, name))) {
    problems.push({ name, field: `${at}.${name}`.slice(0, 200), message: 'is not a parameter of the job' })
  }
  const needed = new Set([...(schema?.required ?? []), ...used])
  for (const [name, property] of Object.entries(properties)) {
    const field = `${at}.${name}`
    const value = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : property.default
    if (value === undefined) {
      if (needed.has(name)) problems.push({ name, field, message: 'is required' })
      continue
    }
    const problem = valueProblem(property, value, budget)
    if (problem === undefined) values[name] = value as ParameterValue
    else problems.push({ name, field: field + problem.at, message: problem.message })
  }
  return { values, problems }
}

/** An upper bound of the steps for matching the patterns of these values; usually it takes fewer. */
export function matchingSteps(schema: ParameterSchema | undefined, given: Record<string, unknown>): number {
  let steps = 0
  for (const [name, { pattern, items, default: initial }] of Object.entries(schema?.properties ?? {})) {
    const source = pattern ?? items?.pattern
    if (source === undefined) continue
    const value = Object.hasOwn(given, name) ? given[name] : initial
    const texts = Array.isArray(value) ? value : [value]
    const lengths = texts.map((text) => (typeof text === 'string' ? text.length + 1 : 0))
    steps += patternCache.get(source).size * lengths.reduce((sum, length) => sum + length, 0)
  }
  return steps
}

export function secretNames(schema: ParameterSchema | undefined): string[] {
  const properties = Object.entries(schema?.properties ?? {})
  return properties.filter(([, { writeOnly }]) => writeOnly).map(([name]) => name)
}

/** The same values with every secret masked. */
export function maskSecrets(schema: ParameterSchema | undefined, values: ParameterValues): ParameterValues {
  return maskNamed(secretNames(schema), values)
}

/** Masked values for the named secrets that a document uses. */
export function maskedValues(template: DocumentTemplate): SecretValues {
  return Object.fromEntries(namesUsed(template, 'secrets').map((name) => [name, maskedSecret]))
}

export function maskNamed(names: readonly string[], values: ParameterValues): ParameterValues {
  const secrets = new Set(names)
  if (secrets.size === 0) return values
  const masked = Object.entries(values).map(([name, value]) => [
    name,
    secrets.has(name) ? maskedSecret : value,
  ])
  return Object.fromEntries(masked)
}
