// What a device wrote, each byte once, however often the connection is cut.

import { isEnd } from './exec-state.ts'
import { openChunks } from './open-chunks.ts'
import { path } from './path.ts'
import { pause } from './pause.ts'
import { isPassing, pauseMsBefore } from './repeat.ts'
import type { Execution } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type ExecutionOutput = AsyncIterable<Uint8Array> & {
  /** Whose output it is, or begins with. */
  readonly attempt: number
  /** How many bytes of it were kept when it was opened. */
  readonly length: number
  /** All of it; with `follow` once the execution has ended. It can be read once, this way or piece by piece. */
  text(): Promise<string>
}

export type OutputWish = CallOptions & {
  jobExecutionId: number
  offset: number
  attempt: number | undefined
  follow: boolean
  execution: () => Promise<Execution>
}

type Part = { attempt: number; length: number; chunks: AsyncIterable<Uint8Array> }

/** A device may write nothing for long, so that silence is no sign; but to ask again costs little. */
const silenceMs = 120_000

export async function openOutput(transport: Transport, wish: OutputWish): Promise<ExecutionOutput> {
  const first = await openFirstPart(transport, wish)
  const bytes = bytesOf(transport, wish, first)
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

async function openFirstPart(transport: Transport, wish: OutputWish): Promise<Part> {
  for (let tryNo = 1; ; tryNo++) {
    try {
      return await openPart(transport, wish)
    } catch (error) {
      if (tryNo > transport.maxRetries || !isPassing(error)) throw error
      await pause(pauseMsBefore(tryNo, error), wish.signal)
    }
  }
}

async function openPart(
  transport: Transport,
  { jobExecutionId, offset, attempt, follow, signal }: OutputWish,
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

/** Attempt by attempt, each asked for by its number: only so an offset says what is missing after a cut. */
async function* bytesOf(transport: Transport, wish: OutputWish, first: Part) {
  let { attempt } = first
  let newest = yield* bytesOfAttempt(transport, { ...wish, attempt }, first)
  while (wish.attempt === undefined && attempt < newest) {
    attempt++
    // The words of the service to whoever follows without our help.
    yield new TextEncoder().encode(`\n[jobcast: attempt ${attempt}]\n`)
    newest = yield* bytesOfAttempt(transport, { ...wish, attempt, offset: 0 })
  }
}

/** Returns which attempt is the newest, as far as one that follows has to know. */
async function* bytesOfAttempt(
  transport: Transport,
  wish: OutputWish & { attempt: number },
  first?: Part,
): AsyncGenerator<Uint8Array, number, undefined> {
  let { offset, attempt: newest } = wish
  let part = first
  let isOver = !wish.follow
  for (let failures = 0; ; ) {
    // Only what is read after the attempt was over can be all of it: a service that stops ends the answer as well.
    const wasOver = isOver
    let cause: unknown
    try {
      part ??= await openPart(transport, { ...wish, offset, follow: !wasOver })
      for await (const piece of withoutKnown(part, offset, offset - wish.offset)) {
        failures = 0
        offset += piece.length
        yield piece
      }
      if (wasOver) return newest
      const execution = await wish.execution()
      newest = execution.attempt
      isOver = newest > wish.attempt || isEnd(execution.execState)
    } catch (error) {
      if (!isPassing(error) || (!wish.follow && failures >= transport.maxRetries)) throw error
      cause = error
    }
    part = undefined
    if (isOver && !wasOver) continue
    failures++
    await pause(pauseMsBefore(failures, cause), wish.signal)
  }
}

/**
 * Output that was cut ends with a line of the service that says so, behind the bytes that are kept. It comes again
 * with each answer, so what was received of it before is left out. `received`: in all, of this attempt.
 */
async function* withoutKnown({ length, chunks }: Part, offset: number, received: number) {
  let known = Math.min(received, Math.max(0, offset - length))
  for await (const chunk of chunks) {
    const piece = chunk.subarray(known)
    known -= chunk.length - piece.length
    if (piece.length > 0) yield piece
  }
}
