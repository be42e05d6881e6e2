// Instants in the format of the API.

export function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}

/** The text must match GivenInstant. */
export function parseInstant(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Error(`${text} is not an instant`)
  return ms
}

export function toInstantOrNull(ms: number | null): string | null {
  return ms === null ? null : toInstant(ms)
}

let latestSecond = { second: Number.NaN, text: '' }

/**
 * `launchedAt` is the only field in whole seconds of UTC without an offset. The last result is cached, because many triggers
 * have the same one.
 */
export function toLaunchedAt(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== latestSecond.second) latestSecond = { second, text: new Date(ms).toISOString().slice(0, 19) }
  return latestSecond.text
}
