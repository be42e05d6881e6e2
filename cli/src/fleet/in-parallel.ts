/** So many calls at once keep a server's group commit filled and its other callers served. */
const atOnce = 16

/** Ends with the first rejection; then nothing further is begun. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values()
  let isOver = false
  const worker = async () => {
    // One iterator for all of them: each item is taken once.
    for (const item of rest) {
      if (isOver) return
      try {
        await work(item)
      } catch (error) {
        isOver = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
