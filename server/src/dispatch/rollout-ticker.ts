// Looks at all rollouts that go on by themselves, on every node: at those of which something has ended, or whose time has
// come. Several nodes may judge one at once; the store lets one of them change it.

import type { SteadyInstant } from '../domain/common/instants.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceLink } from '../domain/device/ports/device-link.ts'
import type { OpenRollout } from '../domain/rollout/ports/rollouts.ts'
import { type RollOutDeps, rollOut } from '../domain/rollout/roll-out.ts'
import type { RunKey } from '../domain/trigger/ports/runs.ts'

type RolloutTickerDeps = Omit<RollOutDeps, 'link'> & {
  store: Pick<Store, 'listOpenRollouts'>
  onFailure: (error: unknown, runId: number) => void
  onDone: (runId: number) => void
}

/** One that takes long, because much of it has to be canceled, does not keep the others waiting. */
const mostAtOnce = 8

export class RolloutTicker {
  readonly #deps: RolloutTickerDeps
  /** Of each open rollout, what was judged last. */
  readonly #judged = new Map<number, string>()
  /** When to look at a gate again although nothing has ended. */
  readonly #looks = new Map<number, SteadyInstant>()
  readonly #inFlight = new Map<number, Promise<void>>()
  /** Set before the first tick: with several nodes it reaches all of them. */
  link: DeviceLink

  constructor(deps: RolloutTickerDeps, link: DeviceLink) {
    this.#deps = deps
    this.link = link
  }

  async tick(): Promise<void> {
    const open = await this.#deps.store.listOpenRollouts()
    const { at, clock: now } = this.#deps.moment()
    for (const each of open) {
      if (this.#deps.stopping.aborted) return
      const facts = factsOf(each)
      const look = this.#looks.get(each.runId) ?? each.nextAt
      const isStarting = each.state === 'SCHEDULED' && (each.startAt ?? 0) <= at
      const isDue =
        isStarting || (each.nextAt !== null && each.nextAt <= now) || (look !== null && look <= now)
      if (!isDue && this.#judged.get(each.runId) === facts) continue
      if (this.#inFlight.has(each.runId)) this.#judged.delete(each.runId)
      else {
        if (this.#inFlight.size >= mostAtOnce) await Promise.race(this.#inFlight.values())
        // Before it begins: whoever fails takes it back.
        this.#judged.set(each.runId, facts)
        this.judgeSoon(each)
      }
    }
    const ids = new Set(open.map(({ runId }) => runId))
    for (const kept of [this.#judged, this.#looks])
      for (const runId of kept.keys()) if (!ids.has(runId)) kept.delete(runId)
  }

  /** Somebody waits for it: a run was made, or something of it was decided. */
  judgeSoon({ ownerNo, runId }: RunKey): void {
    const before = this.#inFlight.get(runId) ?? Promise.resolve()
    const judging = before
      .then(() => rollOut({ ...this.#deps, link: this.link }, { ownerNo, runId }))
      .then((look) => {
        if (look === undefined) this.#looks.delete(runId)
        else this.#looks.set(runId, look)
        this.#deps.onDone(runId)
      })
      .catch((error: unknown) => {
        this.#judged.delete(runId)
        this.#deps.onFailure(error, runId)
      })
      .finally(() => {
        if (this.#inFlight.get(runId) === judging) this.#inFlight.delete(runId)
      })
    this.#inFlight.set(runId, judging)
  }

  /** Resolves when nothing is judged any more. */
  async quiet(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values())
  }
}

/** Nothing can have changed for it while these are the same and its time has not come. */
function factsOf({ state, version, ended, succeeded, unfinished }: OpenRollout): string {
  return `${state} ${version} ${ended} ${succeeded} ${unfinished}`
}
