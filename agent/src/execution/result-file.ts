// Reads the result that a handler wrote to its result file.

import { lstat, readFile } from 'node:fs/promises'

const maxBytes = 64 * 1024

/** `problem` goes into statusDetails: the outcome is reported without a result. */
type HandlerResult = { result?: unknown; problem?: string }

export async function readResult(path: string): Promise<HandlerResult> {
  try {
    const seen = await lstat(path)
    if (!seen.isFile()) return { problem: 'the result is not a file' }
    if (seen.size === 0) return {}
    if (seen.size > maxBytes) return { problem: 'the result is larger than 64 KiB' }
    const result: unknown = JSON.parse(await readFile(path, 'utf8'))
    // Escapes and numbers may become longer when serialized again.
    const isLong = Buffer.byteLength(JSON.stringify(result)) > maxBytes
    return isLong ? { problem: 'the result is larger than 64 KiB' } : { result }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    return {
      problem:
        error instanceof SyntaxError ? 'the result is not JSON' : `no result: ${(error as Error).message}`,
    }
  }
}
