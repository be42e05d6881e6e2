import { isJobcastError } from '@jobcast/client'

/** PUT replaces an existing item, so check before creating a new one. */
export async function isThere(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get()
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

export function isNotFound(error: unknown): boolean {
  return isJobcastError(error) && error.status === 404
}
