// The output of a device, each byte once, across reconnects.

import { isEnd } from './exec-state.ts'
import { openChunks } from './open-chunks.ts'
import { path } from './path.ts'
import { pause } from './pause.ts'
import { isTemporary, pauseMsBefore } from './repeat.ts'
import type { Execution } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type ExecutionOutput = AsyncIterable<Uint8Array> & {
  /** The attempt that the output is from, or starts with. */
  readonly attempt: number
  /** Stored bytes when it was opened. */
  readonly length: number
  /** The whole output; with `follow` once the execution has ended. Can be read once, either this way or in chunks. */
  text(): Promise<string>
}

type OutputQuery = CallOptions & {
  jobExecutionId: number
  offset: number
  attempt: number | undefined
  follow: boolean
  execution: () => Promise<Execution>
}

type Part = { attempt: number; length: number; chunks: AsyncIterable<Uint8Array> }

/** A device may be silent for long without a problem, but reconnecting is cheap. */
const silenceMs = 120_000

export async function openOutput(transport: Transport, query: OutputQuery): Promise<ExecutionOutput> {
  const first = await openFirstPart(transport, query)
  const bytes = bytesOf(transport, query, first)
  return {
    attempt: first.attempt,
    length: first.length,
    [Symbol.asyncIterator]: () => bytes,
    async text() {
      const decoder = new TextDecoder()
      let text = ''
      for await (const piece of bytes) text += decoder.decode(piece, { stream: true })
      return text + decoder.decode()
    },
  }
}

async function openFirstPart(transport: Transport, query: OutputQuery): Promise<Part> {
  for (let tryNo = 1; ; tryNo++) {
    try {
      return await openPart(transport, query)
    } catch (error) {
      if (tryNo > transport.maxRetries || !isTemporary(error)) throw error
      await pause(pauseMsBefore(tryNo, error), query.signal)
    }
  }
}

async function openPart(
  transport: Transport,
  { jobExecutionId, offset, attempt, follow, signal }: OutputQuery,
): Promise<Part> {
  const { headers, chunks } = await openChunks(
    transport,
    {
      method: 'GET',
      path: path`/job/api/executions/${jobExecutionId}/output`,
      query: { offset, attempt, follow },
      headers: { accept: 'text/plain, application/problem+json' },
      signal,
    },
    silenceMs,
  )
  return {
    attempt: Number(headers.get('x-output-attempt')),
    length: Number(headers.get('x-output-length')),
    chunks,
  }
}

/** Each attempt is requested by its number, because the offset after a reconnect refers to an attempt. */
async function* bytesOf(transport: Transport, query: OutputQuery, first: Part) {
  let { attempt } = first
  let newest = yield* bytesOfAttempt(transport, { ...query, attempt }, first)
  while (query.attempt === undefined && attempt < newest) {
    attempt++
    // The same line that the service sends to callers that follow without this client.
    yield new TextEncoder().encode(`\n[jobcast: attempt ${attempt}]\n`)
    newest = yield* bytesOfAttempt(transport, { ...query, attempt, offset: 0 })
  }
}

/** Returns the newest attempt, if following. */
async function* bytesOfAttempt(
  transport: Transport,
  query: OutputQuery & { attempt: number },
  first?: Part,
): AsyncGenerator<Uint8Array, number, undefined> {
  let { offset, attempt: newest } = query
  let part = first
  let isOver = !query.follow
  for (let failures = 0; ; ) {
    // Only a read that starts after the end of the attempt is complete: a stopping service also ends its response.
    const wasOver = isOver
    let cause: unknown
    try {
      part ??= await openPart(transport, { ...query, offset, follow: !wasOver })
      for await (const piece of withoutReceived(part, offset, offset - query.offset)) {
        failures = 0
        offset += piece.length
        yield piece
      }
      if (wasOver) return newest
      const execution = await query.execution()
      newest = execution.attempt
      isOver = newest > query.attempt || isEnd(execution.execState)
    } catch (error) {
      if (!isTemporary(error) || (!query.follow && failures >= transport.maxRetries)) throw error
      cause = error
    }
    part = undefined
    if (isOver && !wasOver) continue
    failures++
    await pause(pauseMsBefore(failures, cause), query.signal)
  }
}

/**
 * Truncated output ends with a line of the service that says so, after the stored bytes. Each response repeats that line,
 * so the part already received is skipped. `received`: bytes of this attempt so far.
 */
async function* withoutReceived({ length, chunks }: Part, offset: number, received: number) {
  let toSkip = Math.min(received, Math.max(0, offset - length))
  for await (const chunk of chunks) {
    const piece = chunk.subarray(toSkip)
    toSkip -= chunk.length - piece.length
    if (piece.length > 0) yield piece
  }
}
