// The last day of a fleet: state counts and ends per time step. It is not stored but summed up from the event log, per owner
// and, for keys that are restricted to jobs, per list of jobs, continuing where the last read ended. So only the first read is
// slow, and any node can serve it.

import type { Store } from '../domain/common/ports/store.ts'
import { addFlow, emptyStep, type Step, stepMs, stepsPerDay } from '../domain/device/fleet-steps.ts'

type HistoryStore = Pick<Store, 'countFlows' | 'findEventBefore' | 'getEventBounds'>

/** Bounds the first read on a busy day to a second or two. */
const maxEventsAtFirst = 1_000_000

/** Kept in memory; that which was not read for the longest time is dropped. */
const keptOfJobs = 100

type OfJobs = { ownerNo: number; jobs?: readonly string[] }
type OwnerHistory = {
  /** All events up to this one are included in the steps. */
  upTo: number
  firstStepNo: number
  steps: Map<number, Step>
}

export class FleetHistory {
  readonly #store: HistoryStore
  readonly #now: () => number
  readonly #owners = new Map<number, Promise<OwnerHistory>>()
  readonly #ofJobs = new Map<string, Promise<OwnerHistory>>()

  constructor({ store, now }: { store: HistoryStore; now: () => number }) {
    this.#store = store
    this.#now = now
  }

  clear(): void {
    this.#owners.clear()
    this.#ofJobs.clear()
  }

  /** Oldest first; the last step is still in progress. */
  async read(ownerNo: number, jobs?: readonly string[]): Promise<{ from: number; steps: Step[] }> {
    const { firstStepNo, steps } = await (jobs
      ? this.#continue(this.#ofJobs, JSON.stringify([ownerNo, jobs]), { ownerNo, jobs })
      : this.#continue(this.#owners, ownerNo, { ownerNo }))
    const lastStepNo = Math.floor(this.#now() / stepMs)
    const length = Math.max(1, lastStepNo - firstStepNo + 1)
    return {
      from: firstStepNo * stepMs,
      steps: Array.from({ length }, (_, index) => steps.get(firstStepNo + index) ?? emptyStep()),
    }
  }

  #continue<Key>(kept: Map<Key, Promise<OwnerHistory>>, key: Key, wanted: OfJobs): Promise<OwnerHistory> {
    // Sequential: two concurrent reads would count the same events twice.
    const before = kept.get(key)?.catch(() => undefined)
    const history = this.#catchUp(wanted, before)
    kept.delete(key)
    kept.set(key, history)
    const [oldest] = this.#ofJobs.keys()
    if (this.#ofJobs.size > keptOfJobs && oldest !== undefined) this.#ofJobs.delete(oldest)
    return history
  }

  async #catchUp(
    wanted: OfJobs,
    before: Promise<OwnerHistory | undefined> | undefined,
  ): Promise<OwnerHistory> {
    const history = (await before) ?? (await this.#begin(wanted))
    for (let more = true; more; ) {
      const page = await this.#store.countFlows({ ...wanted, after: history.upTo, stepMs })
      for (const flow of page.flows) addFlow(history.steps, flow)
      history.upTo = page.upTo
      more = page.more
    }
    const oldest = Math.floor(this.#now() / stepMs) - stepsPerDay + 1
    history.firstStepNo = Math.max(history.firstStepNo, oldest)
    for (const stepNo of history.steps.keys()) if (stepNo < history.firstStepNo) history.steps.delete(stepNo)
    return history
  }

  async #begin(wanted: OfJobs): Promise<OwnerHistory> {
    const { ownerNo } = wanted
    const now = this.#now()
    const dayAgo = await this.#store.findEventBefore({ ownerNo, at: now - stepsPerDay * stepMs })
    const { newest, purgedUpTo } = await this.#store.getEventBounds({ ownerNo })
    const upTo = Math.max(dayAgo, purgedUpTo, newest - maxEventsAtFirst)
    const isComplete = upTo === dayAgo && upTo >= purgedUpTo
    const firstStepNo = Math.floor(now / stepMs) - stepsPerDay + 1
    if (isComplete) return { upTo, firstStepNo, steps: new Map() }
    // The log starts within the day, so its first step is incomplete and left out.
    const { flows } = await this.#store.countFlows({ ownerNo, after: upTo, stepMs })
    const firstComplete = Math.min(...flows.map(({ stepNo }) => stepNo + 1), Math.floor(now / stepMs))
    return { upTo, firstStepNo: Math.max(firstStepNo, firstComplete), steps: new Map() }
  }
}
