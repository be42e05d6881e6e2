/** Enough calls at once to fill a server's group commit, and few enough to leave room for other callers. */
const atOnce = 16

/** Rejects with the first error; no further item is started then. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const remaining = items.values()
  let isStopped = false
  const worker = async () => {
    // All workers share one iterator: each item is taken once.
    for (const item of remaining) {
      if (isStopped) return
      try {
        await work(item)
      } catch (error) {
        isStopped = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
