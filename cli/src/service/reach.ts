// Reports when the service becomes unreachable and reachable again: the client retries silently.

import { connectionReason } from '@jobcast/contract/words'

export class Reach {
  onLost: ((reason: string) => void) | undefined
  onBack: (() => void) | undefined
  #isLost = false
  readonly #fetch: typeof fetch

  constructor(fetchIt: typeof fetch) {
    this.#fetch = fetchIt
  }

  /** The client uses this instead of the global fetch. */
  readonly fetch: typeof fetch = async (input, init) => {
    try {
      const response = await this.#fetch(input, init)
      if (this.#isLost) this.onBack?.()
      this.#isLost = false
      return response
    } catch (error) {
      // One report per outage, not one per attempt.
      if (!this.#isLost && !init?.signal?.aborted) {
        this.#isLost = true
        this.onLost?.(reasonOf(error as Error))
      }
      throw error
    }
  }
}

/** The innermost cause. A host name with several addresses gives an AggregateError, which has no message. */
export function reasonOf(error: Error): string {
  const { cause } = error
  if (cause instanceof Error) return reasonOf(cause)
  const { message, code } = error as NodeJS.ErrnoException
  return connectionReason(message || code || error.name)
}
