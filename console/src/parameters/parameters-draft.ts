// Values of parameters being entered, as the screens pass them around. Free of the code that judges them, which is large.

import { isJobcastError } from '@jobcast/client'

export type ParametersDraft = {
  texts: Readonly<Record<string, string>>
  /** What is sent. */
  given: Record<string, unknown>
  isRight: boolean
  /** Names of those that are shown nowhere. */
  secrets: readonly string[]
}

/** Not right before the form has judged it. */
export const emptyParameters: ParametersDraft = { texts: {}, given: {}, isRight: false, secrets: [] }

export function hasParameters(schema: unknown): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: object }
  return Object.keys(properties).length > 0
}

/** The parameter that the server refuses, and why. */
export function refusedParameter(error: unknown): { name: string; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const [, name] = /^parameters\.([^.[]+)/.exec(error.field ?? '') ?? []
  return name === undefined ? undefined : { name, text: `${error.detail ?? error.message} (${error.code})` }
}

/** Instead of a secret, wherever a call is shown. */
const maskedSecret = '********'

export function maskGiven({ given, secrets }: ParametersDraft): Record<string, unknown> {
  const entries = Object.entries(given)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, secrets.includes(name) ? maskedSecret : value]),
  )
}
