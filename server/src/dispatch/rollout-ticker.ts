// Judges open rollouts, on every node, when an execution has ended or the rollout is due. Several nodes may judge one at
// once; the store lets only one of them change it.

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

/** A slow rollout, such as one that cancels many executions, does not block the others. */
const mostAtOnce = 8

export class RolloutTicker {
  readonly #deps: RolloutTickerDeps
  /** Per open rollout, the facts it was last judged by. */
  readonly #judged = new Map<number, string>()
  /** When to check a gate again although no execution has ended. */
  readonly #nextChecks = new Map<number, SteadyInstant>()
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
      const checkAt = this.#nextChecks.get(each.runId) ?? each.nextAt
      const isStarting = each.state === 'SCHEDULED' && (each.startAt ?? 0) <= at
      const isDue =
        isStarting || (each.nextAt !== null && each.nextAt <= now) || (checkAt !== null && checkAt <= now)
      if (!isDue && this.#judged.get(each.runId) === facts) continue
      if (this.#inFlight.has(each.runId)) this.#judged.delete(each.runId)
      else {
        if (this.#inFlight.size >= mostAtOnce) await Promise.race(this.#inFlight.values())
        // Set before judging begins; a failure removes it again.
        this.#judged.set(each.runId, facts)
        this.judgeSoon(each)
      }
    }
    const ids = new Set(open.map(({ runId }) => runId))
    for (const kept of [this.#judged, this.#nextChecks])
      for (const runId of kept.keys()) if (!ids.has(runId)) kept.delete(runId)
  }

  /** For changes that a caller waits for: a run was created, or a wave was decided on. */
  judgeSoon({ ownerNo, runId }: RunKey): void {
    const before = this.#inFlight.get(runId) ?? Promise.resolve()
    const judging = before
      .then(() => rollOut({ ...this.#deps, link: this.link }, { ownerNo, runId }))
      .then((checkAt) => {
        if (checkAt === undefined) this.#nextChecks.delete(runId)
        else this.#nextChecks.set(runId, checkAt)
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

  /** Resolves when no rollout is being judged. */
  async quiet(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values())
  }
}

/** While these are unchanged and the rollout is not due, judging it again would change nothing. */
function factsOf({ state, version, ended, succeeded, unfinished }: OpenRollout): string {
  return `${state} ${version} ${ended} ${succeeded} ${unfinished}`
}
