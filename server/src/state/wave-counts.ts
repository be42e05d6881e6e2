// Cached counts of waves, so that polling a large run does not count its executions each time.

import type { Store } from '../domain/common/ports/store.ts'
import { countWaves } from '../domain/rollout/count-waves.ts'
import type { StateCounts } from '../domain/rollout/ports/rollouts.ts'
import type { WaveCounts as WaveCountsPort } from '../domain/rollout/ports/wave-counts.ts'
import type { StoredRollout } from '../domain/rollout/rollout.ts'

type Counted = { counts: StateCounts[]; facts: string; at: number; ms: number }

type Kept = {
  /** Wave sizes of the cached counts; a change of the plan may change them. */
  sizes: string
  ended: Map<number, StateCounts>
  last: Counted | undefined
  counting: Promise<StateCounts[]> | undefined
}

const maxRuns = 1000
/** Counts that take longer are cached, so that counting takes at most a twentieth of the time. */
const briefMs = 5
const pausePerMs = 20
const maxAgeMs = 5000

export class WaveCounts implements WaveCountsPort {
  readonly #store: Pick<Store, 'countRunParts'>
  readonly #elapsed: () => number
  readonly #kept = new Map<number, Kept>()

  /** `elapsed`: monotonic milliseconds. */
  constructor(store: Pick<Store, 'countRunParts'>, elapsed: () => number) {
    this.#store = store
    this.#elapsed = elapsed
  }

  async now(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]> {
    const kept = this.#keptOf(rollout)
    const begun = this.#elapsed()
    const counts = await countWaves(this.#store, rollout, run, kept.ended)
    const at = this.#elapsed()
    kept.last = { counts, facts: factsOf(rollout, run), at, ms: at - begun }
    return counts
  }

  recent(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]> {
    const kept = this.#keptOf(rollout)
    const { last } = kept
    if (last && (last.facts === factsOf(rollout, run) || this.#isFresh(last)))
      return Promise.resolve(last.counts)
    kept.counting ??= this.now(rollout, run).finally(() => {
      kept.counting = undefined
    })
    return kept.counting
  }

  #isFresh({ at, ms }: Counted): boolean {
    return ms > briefMs && this.#elapsed() - at < Math.min(maxAgeMs, ms * pausePerMs)
  }

  #keptOf({ runId, plan }: StoredRollout): Kept {
    const sizes = plan.sizes.join()
    const kept = this.#kept.get(runId)
    if (kept?.sizes === sizes) return kept
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= maxRuns && oldest !== undefined) this.#kept.delete(oldest)
    const fresh = { sizes, ended: new Map<number, StateCounts>(), last: undefined, counting: undefined }
    this.#kept.set(runId, fresh)
    return fresh
  }
}

function factsOf({ version }: StoredRollout, run: StateCounts): string {
  return `${version} ${Object.values(run).join()}`
}
