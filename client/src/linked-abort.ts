// A signal that is aborted together with the caller's.
// AbortSignal.any is not used, because its signals exist as long as the caller's, and a stream creates many.

export type LinkedAbort = {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Must always be called, to remove the listener from the caller's signal. */
  unlink(): void
}

export function linkAbort(outer?: AbortSignal): LinkedAbort {
  const controller = new AbortController()
  const abortWithOuter = () => controller.abort(outer?.reason)
  if (outer?.aborted) abortWithOuter()
  else outer?.addEventListener('abort', abortWithOuter, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => outer?.removeEventListener('abort', abortWithOuter),
  }
}
