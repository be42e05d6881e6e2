// How long executions were held back by windows and freezes, from what was written down each time one of them opened or
// closed. Time limits do not run meanwhile (domain/execution/held-clocks.ts).

import { type SteadyInstant, steadyInstant } from '../common/instants.ts'
import { isOpenIn, openEverywhere } from './open-zones.ts'

/** The name under which the history has the fleet of an owner: closed while it is frozen. */
export const wholeFleet = ''

/** From then on the window was open for these zones, as open-zones.ts writes them. */
export type OfferChange = { ownerNo: number; windowName: string; clock: SteadyInstant; openZones: string }

/** What holds an execution back: it is offered only while all of these windows are open in the zone. */
export type Holder = { ownerNo: number; windows: readonly string[]; zone: string }

type Span = { isOpen: boolean; since: SteadyInstant }

export class OfferHistory {
  readonly #changes: Map<string, OfferChange[]>
  readonly #spans = new Map<string, Span[]>()

  /** Those of each window in their order. */
  constructor(changes: OfferChange[]) {
    this.#changes = Map.groupBy(changes, ({ ownerNo, windowName }) => `${ownerNo} ${windowName}`)
  }

  /** How much of this time it was held back. */
  heldMs(holder: Holder, from: SteadyInstant, to: SteadyInstant): number {
    let held = 0
    let at: number = from
    const spans = this.#spansOf(holder)
    for (const [index, { isOpen }] of spans.entries()) {
      const until = Math.min(to, spans[index + 1]?.since ?? to)
      if (until <= at) continue
      if (!isOpen) held += until - at
      at = until
    }
    return held
  }

  isHeld(holder: Holder): boolean {
    return this.#spansOf(holder).at(-1)?.isOpen === false
  }

  /** From the beginning on; what differs follows each other. */
  #spansOf(holder: Holder): Span[] {
    const key = holderKey(holder)
    const known = this.#spans.get(key)
    if (known) return known
    const all = [wholeFleet, ...holder.windows].map(
      (name) => this.#changes.get(`${holder.ownerNo} ${name}`) ?? [],
    )
    const open = all.map((_, index) => index === 0)
    const spans: Span[] = []
    const add = (since: SteadyInstant) => {
      const isOpen = open.every(Boolean)
      if (spans.at(-1)?.isOpen !== isOpen) spans.push({ isOpen, since })
    }
    add(steadyInstant(Number.NEGATIVE_INFINITY))
    const changes = all.flatMap((of, index) => of.map((change) => ({ ...change, index })))
    for (const { clock, openZones, index } of changes.toSorted((one, other) => one.clock - other.clock)) {
      open[index] = isOpenIn(openZones, holder.zone)
      add(clock)
    }
    this.#spans.set(key, spans)
    return spans
  }
}

export function holderKey({ ownerNo, windows, zone }: Holder): string {
  return `${ownerNo} ${zone} ${windows.join(' ')}`
}

/** What is written down when a fleet is frozen, or no longer. */
export function fleetZones(isFrozen: boolean): string {
  return isFrozen ? '' : openEverywhere
}
