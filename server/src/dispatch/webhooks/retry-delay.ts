// When an event that was not accepted is sent again.

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** After the first attempt, the second, and so on: as Standard Webhooks recommends, about a day in total. */
const delays = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 8 * hour, 8 * hour]
/** Between probes of a receiver that is down. */
const firstProbeDelay = 5 * second
const longestProbeDelay = 5 * minute

/** Undefined: no retries are left. `chance`, from 0 to 1, adds jitter of up to 10% either way. */
export function retryDelay(tries: number, chance: number): number | undefined {
  const delay = delays[tries - 1]
  return delay === undefined ? undefined : spread(delay, chance)
}

export function probeDelay(failedProbes: number, chance: number): number {
  return spread(Math.min(longestProbeDelay, firstProbeDelay * 2 ** failedProbes), chance)
}

function spread(ms: number, chance: number): number {
  return Math.round(ms * (0.9 + 0.2 * chance))
}
