/** Younger content may belong to a put in progress, on this node or on another. */
export const unusedAfterMs = 60 * 60_000

const checkedAtOnce = 500

/** The hashes that no version needs. */
export async function* unneeded(
  hashes: AsyncIterable<string>,
  listNeeded: (sha256s: string[]) => Promise<string[]>,
): AsyncGenerator<string> {
  let batch: string[] = []
  for await (const hash of hashes) {
    batch.push(hash)
    if (batch.length < checkedAtOnce) continue
    yield* await without(batch, listNeeded)
    batch = []
  }
  if (batch.length > 0) yield* await without(batch, listNeeded)
}

async function without(
  hashes: string[],
  listNeeded: (sha256s: string[]) => Promise<string[]>,
): Promise<string[]> {
  const needed = new Set(await listNeeded(hashes))
  return hashes.filter((each) => !needed.has(each))
}
