// How long executions were held back by windows and freezes, from what was written down each time one of them opened or
// closed. Time limits do not run meanwhile (domain/execution/held-clocks.ts).

import { type SteadyInstant, steadyInstant } from '../common/instants.ts'
import { isOpenIn, openEverywhere } from './open-zones.ts'

/** The name under which the history has the fleet of an owner: closed while it is frozen. */
export const wholeFleet = ''

/** From then on the window was open for these zones, as open-zones.ts writes them. */
export type OfferChange = { ownerNo: number; windowName: string; clock: SteadyInstant; openZones: string }

/** A window of a device or of a group it is in; `until`: null while it applies. */
export type WindowSpan = { windowName: string; since: SteadyInstant; until: SteadyInstant | null }

/** What holds an execution back: it is offered only while all of these windows are open in the zone, as far as they apply. */
export type Holder = {
  ownerNo: number
  windows: readonly string[]
  zone: string
  ofDevice?: readonly WindowSpan[]
}

type Span = { isOpen: boolean; since: SteadyInstant }
type Change = { clock: SteadyInstant; list: boolean[]; index: number; value: boolean }

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
    const always = [wholeFleet, ...holder.windows]
    const ofDevice = holder.ofDevice ?? []
    const names = [...always, ...ofDevice.map(({ windowName }) => windowName)]
    const open = names.map((_, index) => index === 0)
    const applies = names.map((_, index) => index < always.length)
    const spans: Span[] = []
    const add = (since: SteadyInstant) => {
      const isOpen = open.every((each, index) => each || !applies[index])
      if (spans.at(-1)?.isOpen !== isOpen) spans.push({ isOpen, since })
    }
    add(steadyInstant(Number.NEGATIVE_INFINITY))
    const changes: Change[] = names.flatMap((name, index) =>
      (this.#changes.get(`${holder.ownerNo} ${name}`) ?? []).map(({ clock, openZones }) => {
        return { clock, list: open, index, value: isOpenIn(openZones, holder.zone) }
      }),
    )
    ofDevice.forEach(({ since, until }, position) => {
      const index = always.length + position
      changes.push({ clock: since, list: applies, index, value: true })
      if (until !== null) changes.push({ clock: until, list: applies, index, value: false })
    })
    for (const { clock, list, index, value } of changes.toSorted((one, other) => one.clock - other.clock)) {
      list[index] = value
      add(clock)
    }
    this.#spans.set(key, spans)
    return spans
  }
}

/** Holders with the same key hold back alike, after `from`. */
export function holderKey({ ownerNo, windows, zone, ofDevice = [] }: Holder, from?: SteadyInstant): string {
  const [isOver, isSinceBefore] = [
    (until: SteadyInstant | null) => from !== undefined && until !== null && until <= from,
    (since: SteadyInstant) => from !== undefined && since <= from,
  ]
  const spans = ofDevice
    .filter(({ until }) => !isOver(until))
    .map(
      ({ windowName, since, until }) => `${windowName}@${isSinceBefore(since) ? '' : since}-${until ?? ''}`,
    )
  return [ownerNo, zone, ...windows, ...spans].join(' ')
}

/** Names of the windows that apply now. */
export function currentWindows({ windows, ofDevice = [] }: Holder): string[] {
  const now = ofDevice.filter(({ until }) => until === null).map(({ windowName }) => windowName)
  return [...new Set([...windows, ...now])]
}

/** What is written down when a fleet is frozen, or no longer. */
export function fleetZones(isFrozen: boolean): string {
  return isFrozen ? '' : openEverywhere
}
