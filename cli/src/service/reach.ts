// Whether the service answers: the client tries again by itself, and a person who waits wants to know that it has to.

export class Reach {
  onLost: ((reason: string) => void) | undefined
  onBack: (() => void) | undefined
  #isLost = false

  /** For the client, instead of the global one. */
  readonly fetch: typeof fetch = async (input, init) => {
    try {
      const response = await fetch(input, init)
      if (this.#isLost) this.onBack?.()
      this.#isLost = false
      return response
    } catch (error) {
      // One line for a service that is away for an hour, not one for each try.
      if (!this.#isLost && !init?.signal?.aborted) {
        this.#isLost = true
        this.onLost?.(reasonOf(error as Error))
      }
      throw error
    }
  }
}

/** What is at the bottom of it. A name with several addresses fails with several errors, and then without a message. */
export function reasonOf(error: Error): string {
  const { cause } = error
  if (cause instanceof Error) return reasonOf(cause)
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || error.name
}
