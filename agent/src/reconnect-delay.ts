export type Backoff = { baseMs: number; capMs: number }

export const defaultBackoff: Backoff = { baseMs: 1000, capMs: 30_000 }

/** Full jitter: anything from none to the whole, so that a fleet that lost its server does not come back at once. */
export function reconnectDelayMs(
  failures: number,
  { baseMs, capMs }: Backoff,
  chance: number = Math.random(),
): number {
  return chance * Math.min(capMs, baseMs * 2 ** failures)
}
