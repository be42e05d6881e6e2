// The header `traceparent` of W3C Trace Context: the trace that a call belongs to, and its parent span.

type TraceParent = { traceId: string; spanId: string; flags: string }

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Undefined if malformed: according to the specification, such headers are ignored and not refused. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId, flags }
}

export function traceParentText({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags}`
}

export function isSampled({ flags }: TraceParent): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1
}
