// The state of all bridges as this node knows it: of bridges it runs itself, and as last reported by the nodes that run the
// others. They report once a second, so a report older than a few seconds is discarded.

import type { BridgeView, KnownBridge } from '../domain/bridge/bridge.ts'
import type { WallInstant } from '../domain/common/instants.ts'

type Heard = { view: BridgeView; nodeNo: number; clock: number }

const freshMs = 5000

export class BridgeViews {
  readonly #deps: { now: () => WallInstant; elapsed: () => number; nodeNo?: number | undefined }
  readonly #heard = new Map<string, Heard>()
  /** The bridges in the settings of this node. */
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
      const isRunHere = view.state !== 'standby'
      known.set(view.bridgeName, {
        ...view,
        nodeNo: isRunHere ? nodeNo : null,
        asOf: isRunHere ? now() : null,
      })
    }
    for (const [bridgeName, { view, nodeNo: runner, clock }] of this.#heard) {
      const ageMs = this.#deps.elapsed() - clock
      if (ageMs > freshMs) this.#heard.delete(bridgeName)
      else if ((known.get(bridgeName)?.asOf ?? null) === null)
        known.set(bridgeName, { ...view, nodeNo: runner, asOf: now() - Math.round(ageMs) })
    }
    return [...known.values()]
  }
}
