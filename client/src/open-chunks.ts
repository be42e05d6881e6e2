// One streaming response.

import { startTimeLimit } from './time-limit.ts'
import type { Call, Transport } from './transport.ts'

type OpenChunks = { headers: Headers; chunks: AsyncGenerator<Uint8Array, void, undefined> }

/** Throws ConnectionError when the connection is lost, or when nothing arrives for `silenceMs`. */
export async function openChunks(transport: Transport, call: Call, silenceMs: number): Promise<OpenChunks> {
  const limit = startTimeLimit(silenceMs, call.signal)
  try {
    const { headers, body } = await transport.open({ ...call, signal: limit.signal })
    limit.halt()
    return { headers, chunks: read(body?.getReader()) }
  } catch (error) {
    limit.end()
    throw transport.toThrow(error, call)
  }

  async function* read(reader?: ReadableStreamDefaultReader<Uint8Array>) {
    try {
      for (;;) {
        limit.restart()
        // Deno never settles a read that starts after the abort.
        limit.signal.throwIfAborted()
        const next = await reader?.read()
        // The time limit must not run while the consumer is busy.
        limit.halt()
        if (next === undefined || next.done) return
        yield next.value
      }
    } catch (error) {
      throw transport.toThrow(error, call)
    } finally {
      limit.end()
      reader?.cancel().catch(() => {})
    }
  }
}
