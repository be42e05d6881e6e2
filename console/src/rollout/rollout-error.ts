import { isJobcastError } from '@jobcast/client'

/** What is refused about a rollout, to be shown at its field. */
export function rolloutErrorOf(error: unknown): string | undefined {
  if (!isJobcastError(error) || !error.field?.startsWith('rollout')) return undefined
  return `${error.detail ?? error.message} (${error.code})`
}
