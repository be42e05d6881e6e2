// Cached counts of the devices before a gate, so that polling a large run does not count them each time.

import type { GateCount, GateCounts as GateCountsPort } from '../domain/rollout/ports/gate-counts.ts'
import type { StoredRollout } from '../domain/rollout/rollout.ts'

type Kept = { of: string; counting: Promise<GateCount>; at: number; ms: number | undefined }

const maxRuns = 1000
/** Counts that take longer are cached, so that counting takes at most a twentieth of the time. */
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
    const last = this.#keptOf(rollout)
    if (last === undefined) return this.#countNow(rollout)
    if (this.#isRecent(last)) return last.counting
    if (this.#isJustBegun(last)) return this.#countAfter(last, rollout)
    return this.#countNow(rollout)
  }

  #keptOf(rollout: StoredRollout): Kept | undefined {
    const last = this.#kept.get(rollout.runId)
    return last?.of === subjectOf(rollout) ? last : undefined
  }

  /** Whoever asks while this waits shares the count that begins after it: it knows what was done before they asked. */
  async #countAfter(last: Kept, rollout: StoredRollout): Promise<GateCount> {
    await last.counting.catch(() => undefined)
    const newest = this.#keptOf(rollout)
    if (newest !== undefined && (newest !== last || this.#isRecent(newest))) return newest.counting
    return this.#countNow(rollout)
  }

  #countNow(rollout: StoredRollout): Promise<GateCount> {
    const { runId } = rollout
    this.#kept.delete(runId)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= maxRuns && oldest !== undefined) this.#kept.delete(oldest)
    const begun = this.#elapsed()
    const kept: Kept = { of: subjectOf(rollout), counting: this.#count(rollout), at: begun, ms: undefined }
    this.#kept.set(runId, kept)
    const done = () => {
      kept.at = this.#elapsed()
      kept.ms = kept.at - begun
    }
    const failed = () => void (this.#kept.get(runId) === kept && this.#kept.delete(runId))
    kept.counting.then(done, failed)
    return kept.counting
  }

  /** A slow count, finished or in progress, may be reused for some seconds; a brief one never is, so callers see their changes. */
  #isRecent({ at, ms }: Kept): boolean {
    const age = this.#elapsed() - at
    if (ms === undefined) return age > briefMs && age < maxAgeMs
    return ms > briefMs && age < Math.min(maxAgeMs, ms * pausePerMs)
  }

  #isJustBegun({ at, ms }: Kept): boolean {
    return ms === undefined && this.#elapsed() - at <= briefMs
  }
}

const subjectOf = ({ status, plan }: StoredRollout) =>
  `${status.wave} ${plan.sizes.join()} ${plan.rollout.next?.where ?? ''}`
