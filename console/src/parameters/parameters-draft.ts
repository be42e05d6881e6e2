// The draft of parameter values, shared by screens. Does not import their validation, which is large.

import { isJobcastError } from '@jobcast/client'

export type ParametersDraft = {
  texts: Readonly<Record<string, string>>
  /** The values to send. */
  given: Record<string, unknown>
  isRight: boolean
  /** Names of secret parameters, which are never shown. */
  secrets: readonly string[]
}

/** Invalid until the form has validated it. */
export const emptyParameters: ParametersDraft = { texts: {}, given: {}, isRight: false, secrets: [] }

/** Values that are stored; the form judges them when it is shown. */
export function givenParameters(given: Record<string, unknown>): ParametersDraft {
  return { texts: textsOf(given), given, isRight: true, secrets: [] }
}

export function textsOf(given: Record<string, unknown>): ParametersDraft['texts'] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOfValue(value)]))
}

/** The text that a user would enter. */
export function textOfValue(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join('\n') : String(value)
}

export function hasParameters(schema: unknown): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: object }
  return Object.keys(properties).length > 0
}

/** The parameter that the server refuses, with the reason. */
export function refusedParameter(error: unknown): { name: string; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const [, name] = /^parameters\.([^.[]+)/.exec(error.field ?? '') ?? []
  return name === undefined ? undefined : { name, text: `${error.detail ?? error.message} (${error.code})` }
}

/** Replaces secrets wherever a call is shown. */
const maskedSecret = '********'

export function maskGiven({ given, secrets }: ParametersDraft): Record<string, unknown> {
  const entries = Object.entries(given)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, secrets.includes(name) ? maskedSecret : value]),
  )
}
