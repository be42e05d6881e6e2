export type Backoff = { baseMs: number; capMs: number }

export const defaultBackoff: Backoff = { baseMs: 1000, capMs: 30_000 }

/** Exponential backoff with full jitter, so that a fleet does not reconnect all at once. */
export function reconnectDelayMs(
  failures: number,
  { baseMs, capMs }: Backoff,
  chance: number = Math.random(),
): number {
  return chance * Math.min(capMs, baseMs * 2 ** failures)
}
