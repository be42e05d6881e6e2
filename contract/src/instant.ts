// Instants as they are written on the wire.

export function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}

/** Of a text that GivenInstant has let through. */
export function parseInstant(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Error(`${text} is no instant`)
  return ms
}

export function toInstantOrNull(ms: number | null): string | null {
  return ms === null ? null : toInstant(ms)
}

/** `launchedAt` alone is in whole seconds of UTC without an offset. */
export function toLaunchedAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19)
}
