// How it went over the last day: levels and ends by steps of time. Nothing is written for it: it is added up from the
// event log, per owner, from where the last look ended. So only the first look is long, and any node can do it.

import { addFlow, emptyStep, type Step, stepMs } from '../domain/fleet-steps.ts'
import type { Store } from '../domain/ports/store.ts'

type HistoryStore = Pick<Store, 'countFlows' | 'findEventBefore' | 'getEventBounds'>

const stepsKept = (24 * 60 * 60_000) / stepMs
/** The first look goes back no further, however busy the day was: a second or two of reading. */
const eventsAtFirst = 1_000_000

type OwnerHistory = {
  /** All events up to this one are in the steps. */
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

  /** Oldest first; the last one is under way. */
  async read(ownerNo: number): Promise<{ from: number; steps: Step[] }> {
    // One after the other: two looks at once would count the same events twice.
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
      const look = await this.#store.countFlows({ ownerNo, after: history.upTo, stepMs })
      for (const flow of look.flows) addFlow(history.steps, flow)
      history.upTo = look.upTo
      more = look.more
    }
    const oldest = Math.floor(this.#now() / stepMs) - stepsKept + 1
    history.firstStepNo = Math.max(history.firstStepNo, oldest)
    for (const stepNo of history.steps.keys()) if (stepNo < history.firstStepNo) history.steps.delete(stepNo)
    return history
  }

  async #begin(ownerNo: number): Promise<OwnerHistory> {
    const now = this.#now()
    const dayAgo = await this.#store.findEventBefore({ ownerNo, at: now - stepsKept * stepMs })
    const { newest, forgotten } = await this.#store.getEventBounds({ ownerNo })
    const upTo = Math.max(dayAgo, forgotten, newest - eventsAtFirst)
    const isWhole = upTo === dayAgo && upTo >= forgotten
    const firstStepNo = Math.floor(now / stepMs) - stepsKept + 1
    if (isWhole) return { upTo, firstStepNo, steps: new Map() }
    // Where the log begins later, the step it begins in is known in part only.
    const { flows } = await this.#store.countFlows({ ownerNo, after: upTo, stepMs })
    const known = Math.min(...flows.map(({ stepNo }) => stepNo + 1), Math.floor(now / stepMs))
    return { upTo, firstStepNo: Math.max(firstStepNo, known), steps: new Map() }
  }
}
