// What this node knows of all bridges: those that it carries itself, and what the nodes that carry the others have said
// last. They say it once a second, so what is older than a few seconds counts no more.

import type { BridgeView, KnownBridge } from '../domain/bridge/bridge.ts'
import type { WallInstant } from '../domain/common/instants.ts'

type Heard = { view: BridgeView; nodeNo: number; clock: number }

const freshMs = 5000

export class BridgeViews {
  readonly #deps: { now: () => WallInstant; elapsed: () => number; nodeNo?: number | undefined }
  readonly #heard = new Map<string, Heard>()
  /** In the settings of this node. */
  local: () => readonly BridgeView[] = () => []

  constructor(deps: { now: () => WallInstant; elapsed: () => number; nodeNo?: number | undefined }) {
    this.#deps = deps
  }

  hear(nodeNo: number, view: BridgeView): void {
    this.#heard.set(view.bridgeName, { view, nodeNo, clock: this.#deps.elapsed() })
  }

  list(): KnownBridge[] {
    const { now, nodeNo = null } = this.#deps
    const known = new Map<string, KnownBridge>()
    for (const view of this.local()) {
      const isCarried = view.state !== 'standby'
      known.set(view.bridgeName, {
        ...view,
        nodeNo: isCarried ? nodeNo : null,
        asOf: isCarried ? now() : null,
      })
    }
    for (const [bridgeName, { view, nodeNo: carrier, clock }] of this.#heard) {
      const ageMs = this.#deps.elapsed() - clock
      if (ageMs > freshMs) this.#heard.delete(bridgeName)
      else if ((known.get(bridgeName)?.asOf ?? null) === null)
        known.set(bridgeName, { ...view, nodeNo: carrier, asOf: now() - Math.round(ageMs) })
    }
    return [...known.values()]
  }
}
