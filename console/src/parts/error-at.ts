import { isJobcastError } from '@jobcast/client'

/** What is refused about a field, or something in it, to be shown there. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!isJobcastError(error) || !error.field?.startsWith(field)) return undefined
  return `${error.detail ?? error.message} (${error.code})`
}
