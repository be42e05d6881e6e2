// Two clocks with two types, so that their instants cannot be mixed up. Both count milliseconds.
//
// The wall clock is for display: it may be set at any time. The steady clock is for durations: it never jumps
// (steady-clock.ts).

declare const clock: unique symbol

/** An instant of the wall clock. Any number qualifies, since this is the default kind of instant. */
export type WallInstant = number & { readonly [clock]?: 'wall' }

/** An instant of the steady clock. A plain number does not qualify. */
export type SteadyInstant = number & { readonly [clock]: 'steady' }

/** For code that reads the steady clock, or a stored value of it. */
export function steadyInstant(ms: number): SteadyInstant {
  return ms as SteadyInstant
}

export function laterBy(ms: number, instant: SteadyInstant): SteadyInstant {
  return steadyInstant(instant + ms)
}

/** The later instant; the second may be undefined. */
export function latest(one: SteadyInstant, other: SteadyInstant | undefined): SteadyInstant {
  return other !== undefined && other > one ? other : one
}

/** Both clocks at the same instant. */
export type BothClocks = { at: WallInstant; clock: SteadyInstant }

/**
 * The steady clock at startup: the last recorded value plus the time that has passed on the wall clock since then, or
 * nothing if the wall clock is behind. Earlier changes of the wall clock do not matter, since both clocks were recorded at
 * the same instant.
 */
export function resumeClock(recorded: BothClocks, now: WallInstant): SteadyInstant {
  return laterBy(Math.max(0, now - recorded.at), recorded.clock)
}

/** A purge by a wrong clock cannot be undone, so nothing is purged while the clocks of the database and the node differ. */
export function instantToPurgeAt(shared: WallInstant, own: WallInstant): WallInstant {
  const differenceMs = Math.abs(shared - own)
  if (differenceMs <= toleratedMs) return shared
  const minutes = Math.round(differenceMs / 60_000)
  throw new Error(
    `the clocks of this node and of the database differ by ${minutes} minutes: nothing is purged`,
  )
}

/** Records with a later date were written while the clock was wrong. */
export function latestCredible(now: WallInstant): WallInstant {
  return now + toleratedMs
}

const toleratedMs = 5 * 60_000

/** Converts to the wall clock, assuming that it is not set in between. */
export function onWallClock(instant: SteadyInstant | null, { at, clock }: BothClocks): WallInstant | null {
  return instant === null ? null : at + (instant - clock)
}
