// Sends spans to an OpenTelemetry collector: OTLP over HTTP, as JSON. Loaded only where an endpoint is set.

import type { Span } from '../state/run-traces.ts'

export type OtlpOptions = {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT: spans go to `/v1/traces` below it. */
  endpoint: string
  headers: Record<string, string>
  serviceName: string
  version: string
  onFailure: (error: unknown) => void
}

const batchMs = 1000
const maxBatch = 500
/** Beyond this, spans are dropped: the collector is down or too slow. */
const maxWaiting = 5000
const answerWithinMs = 5000
const kinds = { server: 2, consumer: 5 }

export class OtlpExporter {
  readonly #options: OtlpOptions
  #waiting: Span[] = []
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: OtlpOptions) {
    this.#options = options
  }

  readonly add = (span: Span): void => {
    if (this.#waiting.length >= maxWaiting) return
    this.#waiting.push(span)
    this.#timer ??= setTimeout(() => this.#sendSoon(), batchMs).unref()
  }

  /** Sends what waits; may be called twice. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sending
    if (this.#waiting.length > 0) await this.#send()
  }

  #sendSoon(): void {
    this.#timer = undefined
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#sendSoon(), batchMs).unref()
    })
  }

  async #send(): Promise<void> {
    const { endpoint, headers, onFailure } = this.#options
    const spans = this.#waiting.splice(0, maxBatch)
    try {
      const response = await fetch(`${endpoint.replace(/\/$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#toRequest(spans)),
        signal: AbortSignal.timeout(answerWithinMs),
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`the collector answered ${response.status}`)
    } catch (error) {
      onFailure(error)
    }
  }

  #toRequest(spans: Span[]): object {
    const { serviceName, version } = this.#options
    const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) }
    const scopeSpans = [{ scope: { name: 'jobcast', version }, spans: spans.map(toOtlp) }]
    return { resourceSpans: [{ resource, scopeSpans }] }
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
