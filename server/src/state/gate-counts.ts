// Devices before a gate that were counted, so that looking at a large run again and again does not read them again and again.

import type { GateCount, GateCounts as GateCountsPort } from '../domain/rollout/ports/gate-counts.ts'
import type { StoredRollout } from '../domain/rollout/rollout.ts'

type Kept = { of: string; counting: Promise<GateCount>; at: number; ms: number | undefined }

const maxRuns = 1000
/** What took longer is counted for a twentieth of the time at most. */
const briefMs = 5
const pausePerMs = 20
const maxAgeMs = 5000

export class GateCounts implements GateCountsPort {
  readonly #count: (rollout: StoredRollout) => Promise<GateCount>
  readonly #elapsed: () => number
  readonly #kept = new Map<number, Kept>()

  /** `elapsed`: monotonic milliseconds. */
  constructor(count: (rollout: StoredRollout) => Promise<GateCount>, elapsed: () => number) {
    this.#count = count
    this.#elapsed = elapsed
  }

  recent(rollout: StoredRollout): Promise<GateCount> {
    const { runId, status, plan } = rollout
    const of = `${status.wave} ${plan.sizes.join()} ${plan.rollout.next?.where ?? ''}`
    const last = this.#kept.get(runId)
    if (last?.of === of && this.#isFresh(last)) return last.counting
    this.#kept.delete(runId)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= maxRuns && oldest !== undefined) this.#kept.delete(oldest)
    const begun = this.#elapsed()
    const kept: Kept = { of, counting: this.#count(rollout), at: begun, ms: undefined }
    this.#kept.set(runId, kept)
    const done = () => {
      kept.at = this.#elapsed()
      kept.ms = kept.at - begun
    }
    const failed = () => void (this.#kept.get(runId) === kept && this.#kept.delete(runId))
    kept.counting.then(done, failed)
    return kept.counting
  }

  /** Also what is being counted, unless that has begun too long ago to know what has just been done. */
  #isFresh({ at, ms }: Kept): boolean {
    const age = this.#elapsed() - at
    if (ms === undefined) return age > briefMs && age < maxAgeMs
    return ms > briefMs && age < Math.min(maxAgeMs, ms * pausePerMs)
  }
}
