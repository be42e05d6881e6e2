// Two clocks, two types, so that an instant of the one cannot be taken for one of the other. Both count milliseconds.
//
// The wall clock is for people: it may be set at any time, and instants of it are compared with none of the other. The
// steady clock is for durations: it never jumps (steady-clock.ts).

declare const clock: unique symbol

/** What the wall clock said. Any number is one: that is what instants are unless they say otherwise. */
export type WallInstant = number & { readonly [clock]?: 'wall' }

/** What the steady clock said, or will say. No number is one by itself. */
export type SteadyInstant = number & { readonly [clock]: 'steady' }

/** For whoever reads the steady clock, or what was stored of it. */
export function steadyInstant(ms: number): SteadyInstant {
  return ms as SteadyInstant
}

export function laterBy(ms: number, instant: SteadyInstant): SteadyInstant {
  return steadyInstant(instant + ms)
}

/** Of the two; the other may be missing. */
export function latest(one: SteadyInstant, other: SteadyInstant | undefined): SteadyInstant {
  return other !== undefined && other > one ? other : one
}

/** What both clocks say at the same instant. */
export type BothClocks = { at: WallInstant; clock: SteadyInstant }

/** When the wall clock will say it, if nobody sets it until then. */
export function onWallClock(instant: SteadyInstant | null, { at, clock }: BothClocks): WallInstant | null {
  return instant === null ? null : at + (instant - clock)
}
