// Looks at all rollouts that go on by themselves, on every node: at those of which something has ended, or whose time has
// come. Several nodes may judge one at once; the store lets one of them change it.

import type { DeviceLink } from '../domain/ports/device-link.ts'
import type { OpenRollout } from '../domain/ports/rollouts.ts'
import type { RunKey } from '../domain/ports/runs.ts'
import type { Store } from '../domain/ports/store.ts'
import { type RollOutDeps, rollOut } from '../domain/roll-out.ts'

export type RolloutTickerDeps = Omit<RollOutDeps, 'link'> & {
  store: Pick<Store, 'listOpenRollouts'>
  onFailure: (error: unknown) => void
}

export class RolloutTicker {
  readonly #deps: RolloutTickerDeps
  /** Of each open rollout, what was judged last. */
  #judged = new Map<number, string>()
  #underWay = new Set<Promise<void>>()
  /** Set before the first tick: with several nodes it reaches all of them. */
  link: DeviceLink

  constructor(deps: RolloutTickerDeps, link: DeviceLink) {
    this.#deps = deps
    this.link = link
  }

  async tick(): Promise<void> {
    const open = await this.#deps.store.listOpenRollouts()
    const now = this.#deps.moment().clock
    const judged = new Map<number, string>()
    for (const each of open) {
      if (this.#deps.stopping.aborted) return
      const facts = factsOf(each)
      const isDue = each.nextAt !== null && each.nextAt <= now
      if (isDue || this.#judged.get(each.runId) !== facts) await this.#judge(each)
      judged.set(each.runId, facts)
    }
    this.#judged = judged
  }

  /** Somebody waits for it: a run was made, or let go on. */
  judgeSoon(run: RunKey): void {
    const judging = this.#judge(run).catch(this.#deps.onFailure)
    this.#underWay.add(judging)
    void judging.finally(() => this.#underWay.delete(judging))
  }

  /** Resolves when nothing is judged any more. */
  async quiet(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  #judge({ ownerNo, runId }: RunKey): Promise<void> {
    return rollOut({ ...this.#deps, link: this.link }, { ownerNo, runId })
  }
}

/** Nothing can have changed for it while these are the same and its time has not come. */
function factsOf({ state, version, ended, succeeded, unfinished }: OpenRollout): string {
  return `${state} ${version} ${ended} ${succeeded} ${unfinished}`
}
