// The last day of a fleet: state counts and ends per time step. Nothing is stored for it: it is summed up from the event
// log, per owner, continuing where the last read ended. So only the first read is slow, and any node can serve it.

import type { Store } from '../domain/common/ports/store.ts'
import { addFlow, emptyStep, type Step, stepMs } from '../domain/device/fleet-steps.ts'

type HistoryStore = Pick<Store, 'countFlows' | 'findEventBefore' | 'getEventBounds'>

const stepsKept = (24 * 60 * 60_000) / stepMs
/** Bounds the first read on a busy day to a second or two. */
const maxEventsAtFirst = 1_000_000

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

  constructor({ store, now }: { store: HistoryStore; now: () => number }) {
    this.#store = store
    this.#now = now
  }

  clear(): void {
    this.#owners.clear()
  }

  /** Oldest first; the last step is still in progress. */
  async read(ownerNo: number): Promise<{ from: number; steps: Step[] }> {
    // Sequential: two concurrent reads would count the same events twice.
    const before = this.#owners.get(ownerNo)?.catch(() => undefined)
    const history = this.#catchUp(ownerNo, before)
    this.#owners.set(ownerNo, history)
    const { firstStepNo, steps } = await history
    const lastStepNo = Math.floor(this.#now() / stepMs)
    const length = Math.max(1, lastStepNo - firstStepNo + 1)
    return {
      from: firstStepNo * stepMs,
      steps: Array.from({ length }, (_, index) => steps.get(firstStepNo + index) ?? emptyStep()),
    }
  }

  async #catchUp(
    ownerNo: number,
    before: Promise<OwnerHistory | undefined> | undefined,
  ): Promise<OwnerHistory> {
    const history = (await before) ?? (await this.#begin(ownerNo))
    for (let more = true; more; ) {
      const page = await this.#store.countFlows({ ownerNo, after: history.upTo, stepMs })
      for (const flow of page.flows) addFlow(history.steps, flow)
      history.upTo = page.upTo
      more = page.more
    }
    const oldest = Math.floor(this.#now() / stepMs) - stepsKept + 1
    history.firstStepNo = Math.max(history.firstStepNo, oldest)
    for (const stepNo of history.steps.keys()) if (stepNo < history.firstStepNo) history.steps.delete(stepNo)
    return history
  }

  async #begin(ownerNo: number): Promise<OwnerHistory> {
    const now = this.#now()
    const dayAgo = await this.#store.findEventBefore({ ownerNo, at: now - stepsKept * stepMs })
    const { newest, purgedUpTo } = await this.#store.getEventBounds({ ownerNo })
    const upTo = Math.max(dayAgo, purgedUpTo, newest - maxEventsAtFirst)
    const isComplete = upTo === dayAgo && upTo >= purgedUpTo
    const firstStepNo = Math.floor(now / stepMs) - stepsKept + 1
    if (isComplete) return { upTo, firstStepNo, steps: new Map() }
    // The log starts within the day, so its first step is incomplete and left out.
    const { flows } = await this.#store.countFlows({ ownerNo, after: upTo, stepMs })
    const firstComplete = Math.min(...flows.map(({ stepNo }) => stepNo + 1), Math.floor(now / stepMs))
    return { upTo, firstStepNo: Math.max(firstStepNo, firstComplete), steps: new Map() }
  }
}
