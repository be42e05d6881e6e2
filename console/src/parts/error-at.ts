import { isJobcastError } from '@jobcast/client'

/** The error for a field, or a part of it, to be shown at the field. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!isJobcastError(error) || !error.field?.startsWith(field)) return undefined
  return `${error.detail ?? error.message} (${error.code})`
}
