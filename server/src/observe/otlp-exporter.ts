// Sends spans to an OpenTelemetry collector: OTLP over HTTP, as JSON. Loaded only where an endpoint is set.

import type { Span } from '../state/run-traces.ts'
import type { Tell } from './events.ts'

export type OtlpOptions = {
  /** Like OTEL_EXPORTER_OTLP_ENDPOINT: spans are sent to `/v1/traces` below it. */
  endpoint: string
  headers: Record<string, string>
  serviceName: string
  version: string
  tell: Tell
  /** Shorter in tests. */
  times?: Partial<typeof defaultTimes>
}

const defaultTimes = {
  batchMs: 1000,
  answerWithinMs: 5000,
  /** Delay before the second try; doubled with each further one, up to the maximum. */
  retryMs: 1000,
  longestRetryMs: 60_000,
  /** Maximum duration of a stop. */
  stopWithinMs: 3000,
}
/** With the delays above, a batch is dropped after about five minutes. */
const maxTries = 10
const maxBatch = 500
/** Beyond this, spans are dropped: the collector is down or too slow. */
const maxWaiting = 5000
const kinds = { server: 2, consumer: 5 }

export class OtlpExporter {
  readonly #options: OtlpOptions
  readonly #times: typeof defaultTimes
  readonly #stopping = new AbortController()
  #waiting: Span[] = []
  /** The current batch, with the number of unsuccessful tries. */
  #batch: Span[] = []
  #tries = 0
  /** Consecutive failures over all batches. */
  #failures = 0
  /** Spans dropped because of a full queue since the last report. */
  #overflow = 0
  /** The delay requested by the collector. */
  #retryAfterMs = 0
  #isStopping = false
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: OtlpOptions) {
    this.#options = options
    this.#times = { ...defaultTimes, ...options.times }
  }

  readonly add = (span: Span): void => {
    if (this.#waiting.length + this.#batch.length >= maxWaiting) {
      this.#overflow++
      return
    }
    this.#waiting.push(span)
    this.#schedule(this.#times.batchMs)
  }

  /** Sends waiting spans, each batch once; batches that fail are dropped. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const timer = setTimeout(() => this.#stopping.abort(), this.#times.stopWithinMs)
    clearTimeout(this.#timer)
    await this.#sending
    clearTimeout(this.#timer)
    while (this.#hasSpans() && !this.#stopping.signal.aborted) {
      await this.#send()
      if (this.#batch.length > 0) this.#drop('stopped')
    }
    this.#batch.push(...this.#waiting.splice(0))
    this.#drop('stopped')
    clearTimeout(timer)
  }

  #hasSpans(): boolean {
    return this.#batch.length + this.#waiting.length > 0
  }

  #schedule(ms: number): void {
    if (this.#sending !== undefined) return
    this.#timer ??= setTimeout(() => this.#sendSoon(), ms).unref()
  }

  #sendSoon(): void {
    this.#timer = undefined
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined
      if (this.#hasSpans()) this.#schedule(this.#failures === 0 ? this.#times.batchMs : this.#retryDelayMs())
    })
  }

  #retryDelayMs(): number {
    const { retryMs, longestRetryMs } = this.#times
    // Randomized, because several nodes lose the same collector at the same time.
    const delayMs = Math.min(longestRetryMs, retryMs * 2 ** (this.#failures - 1)) * (0.5 + Math.random() / 2)
    return Math.max(delayMs, Math.min(longestRetryMs, this.#retryAfterMs))
  }

  async #send(): Promise<void> {
    const { tell } = this.#options
    if (this.#batch.length === 0) this.#batch = this.#waiting.splice(0, maxBatch)
    this.#tries++
    this.#retryAfterMs = 0
    try {
      const rejected = await this.#post(this.#batch)
      tell({ kind: 'spans-sent', count: this.#batch.length - rejected })
      if (rejected > 0) tell({ kind: 'spans-dropped', count: rejected, reason: 'refused' })
      this.#batch = []
      this.#tries = 0
      this.#failures = 0
    } catch (error) {
      this.#failures++
      if (error instanceof Refusal) this.#drop('refused', error)
      else if (this.#tries >= maxTries) this.#drop('retries-exhausted', error)
      else if (this.#tries === 1 && !this.#isStopping) {
        tell({ kind: 'span-export-failed', error, waiting: this.#batch.length + this.#waiting.length })
      }
    }
    this.#reportOverflow()
  }

  #drop(reason: 'refused' | 'retries-exhausted' | 'stopped', error?: unknown): void {
    const count = this.#batch.length
    this.#batch = []
    this.#tries = 0
    if (count > 0) this.#options.tell({ kind: 'spans-dropped', count, reason, error })
    this.#reportOverflow()
  }

  #reportOverflow(): void {
    const count = this.#overflow
    this.#overflow = 0
    if (count > 0) this.#options.tell({ kind: 'spans-dropped', count, reason: 'queue-full' })
  }

  /** Resolves with the number of rejected spans. Throws Refusal if a retry would not help. */
  async #post(spans: Span[]): Promise<number> {
    const { endpoint, headers } = this.#options
    const response = await fetch(`${endpoint.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(this.#toRequest(spans)),
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(this.#times.answerWithinMs)]),
    })
    if (response.ok) return Math.min(spans.length, rejectedSpans(await readShort(response)))
    await response.body?.cancel()
    this.#retryAfterMs = (Number(response.headers.get('retry-after')) || 0) * 1000
    const message = `the collector answered ${response.status}`
    const isTemporary = response.status >= 500 || response.status === 429 || response.status === 408
    throw isTemporary ? new Error(message) : new Refusal(message)
  }

  #toRequest(spans: Span[]): object {
    const { serviceName, version } = this.#options
    const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) }
    const scopeSpans = [{ scope: { name: 'jobcast', version }, spans: spans.map(toOtlp) }]
    return { resourceSpans: [{ resource, scopeSpans }] }
  }
}

/** The collector permanently refuses these spans. */
class Refusal extends Error {}

const longestAnswer = 64 * 1024

/** Returns an empty string if the response is longer than expected from a collector. */
async function readShort(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > longestAnswer) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Reads `partialSuccess`; 64-bit integers are strings in JSON. */
function rejectedSpans(answer: string): number {
  try {
    const rejected = Number(JSON.parse(answer)?.partialSuccess?.rejectedSpans ?? 0)
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
  } catch {
    // Accepted, although the body is not JSON.
    return 0
  }
}

function toOtlp({ traceId, spanId, parentSpanId, name, kind, startedAt, endedAt, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: kinds[kind],
    startTimeUnixNano: `${startedAt}000000`,
    endTimeUnixNano: `${Math.max(startedAt, endedAt)}000000`,
    attributes: attributesOf(attributes),
    status: error === undefined ? { code: 1 } : { code: 2, message: error },
  }
}

function attributesOf(attributes: Record<string, string | number>) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
