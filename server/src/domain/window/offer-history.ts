// How long executions were held back by windows and freezes, computed from the recorded history of openings and closings.
// Time limits do not run meanwhile (domain/execution/held-clocks.ts).

import { type SteadyInstant, steadyInstant } from '../common/instants.ts'
import { isOpenIn, openEverywhere } from './open-zones.ts'

/** The name of an owner's fleet in the history: closed while the fleet is frozen. */
export const wholeFleet = ''

/** From this instant on the window was open for these zones, in the format of open-zones.ts. */
export type OfferChange = { ownerNo: number; windowName: string; clock: SteadyInstant; openZones: string }

/** A window of the device or of one of its groups; `until`: null while it applies. */
export type WindowSpan = { windowName: string; since: SteadyInstant; until: SteadyInstant | null }

/** What may hold an execution back: it is offered only while all of these windows that apply are open in the zone. */
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

  /** `changes` must be in order for each window. */
  constructor(changes: OfferChange[]) {
    this.#changes = Map.groupBy(changes, ({ ownerNo, windowName }) => `${ownerNo} ${windowName}`)
  }

  /** How long it was held back between these instants. */
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

  /** Alternating open and closed spans, from the beginning of time. */
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

/** Holders with the same key hold back for the same time after `from`. */
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

/** What the history records when a fleet is frozen or unfrozen. */
export function fleetZones(isFrozen: boolean): string {
  return isFrozen ? '' : openEverywhere
}
