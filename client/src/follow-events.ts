// The event stream: each event once, in order, reconnecting as needed.

import { JobcastError, UnexpectedAnswer } from './errors.ts'
import type { EventPattern, JobcastEvent } from './event.ts'
import { linkAbort } from './linked-abort.ts'
import { openChunks } from './open-chunks.ts'
import { pause } from './pause.ts'
import { isTemporary, mayRepeat, pauseMsBefore } from './repeat.ts'
import { type SseBlock, SseParser } from './sse-parser.ts'
import type { CallOptions, Transport } from './transport.ts'

export type EventsOptions = CallOptions & {
  /** Start after this event; 0 starts with the oldest retained one. By default only new events. */
  after?: number | undefined
  /** Or start with the events from this instant on (RFC 3339). */
  since?: string | undefined
  /** Only these types; by default all. */
  types?: readonly EventPattern[] | undefined
  runId?: number | undefined
  jobName?: string | undefined
  deviceId?: string | undefined
  /** Called once, when the stream is open: no event after this is missed. */
  onOpen?: (() => void) | undefined
  /** Called when the stream is open again after a reconnect. */
  onResume?: (() => void) | undefined
  /** Called before each reconnect, with the error that ended the connection; undefined if the service closed it. */
  onReconnect?: ((cause: unknown) => void) | undefined
}

/** The service sends something every 15 s, at least a heartbeat. */
const silenceMs = 45_000

/** Ends with the signal or on return; rejects with errors that a retry cannot fix. */
export function followEvents(
  transport: Transport,
  options: EventsOptions,
): AsyncIterableIterator<JobcastEvent, void, undefined> {
  const life = linkAbort(options.signal)
  const events = eventsOf(transport, { ...options, signal: life.signal }, life.unlink)
  return {
    next: () => events.next(),
    // With a plain generator, return() would wait for the next event.
    return() {
      life.abort()
      return events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* eventsOf(
  transport: Transport,
  options: EventsOptions & { signal: AbortSignal },
  onEnd: () => void,
): AsyncGenerator<JobcastEvent, void, undefined> {
  const { signal, onOpen, onResume, onReconnect } = options
  let position = options.after
  let isOpen = false
  let failures = 0
  try {
    while (!signal.aborted) {
      let cause: unknown
      try {
        for await (const block of blocksOf(transport, options, position)) {
          if (!isOpen) onOpen?.()
          else if (failures > 0) onResume?.()
          isOpen = true
          failures = 0
          const before = position ?? -1
          position = Math.max(before, Number(block.id ?? before))
          if (block.data === undefined) continue
          const event = JSON.parse(block.data) as JobcastEvent
          if (event.eventId > before) yield event
        }
      } catch (error) {
        if (signal.aborted) return
        const mayRetry = isOpen
          ? isRetryable(error)
          : failures < transport.maxRetries && mayRepeat(error, true)
        if (!mayRetry) throw error
        cause = error
      }
      failures++
      await pause(pauseMsBefore(failures, cause), signal).catch(() => {})
      if (!signal.aborted) onReconnect?.(cause)
    }
  } finally {
    onEnd()
  }
}

async function* blocksOf(
  transport: Transport,
  { after, since, types, runId, jobName, deviceId, signal }: EventsOptions,
  position: number | undefined,
): AsyncGenerator<SseBlock, void, undefined> {
  const { headers, chunks } = await openChunks(
    transport,
    {
      method: 'GET',
      path: '/job/api/events',
      query: { after, since, types: types?.length ? types.join(',') : undefined, runId, jobName, deviceId },
      headers: {
        accept: 'text/event-stream, application/problem+json',
        ...(position !== undefined && { 'last-event-id': String(position) }),
      },
      signal,
    },
    silenceMs,
  )
  const parser = new SseParser()
  for await (const chunk of chunks) {
    if (!headers.get('content-type')?.startsWith('text/event-stream')) {
      throw new UnexpectedAnswer('/job/api/events did not answer with events', 200)
    }
    yield* parser.push(chunk)
  }
}

/** Once the stream was open, every error but a refusal may be temporary. */
function isRetryable(error: unknown): boolean {
  const isAnswer = error instanceof JobcastError || error instanceof UnexpectedAnswer
  return isTemporary(error) || (isAnswer && error.status >= 500)
}
