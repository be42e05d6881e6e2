// A signal of our own that is aborted along with the caller's.
// Not AbortSignal.any: what it makes lives as long as the caller's signal does, and a stream makes many.

export type LinkedAbort = {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** To be called in any case, so that nothing stays tied to the caller's signal. */
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
