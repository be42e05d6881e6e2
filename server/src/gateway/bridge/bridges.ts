// The bridges of this node: it runs each bridge whose lock it holds, and takes locks that are free.

import type { BridgeView } from '../../domain/bridge/bridge.ts'
import { Bridge, type BridgeDeps } from './bridge.ts'
import type { BridgeSettings } from './bridge-settings.ts'

/** In a cluster, one node at a time runs a bridge. */
export type BridgeLocks = {
  take(bridgeName: string): Promise<boolean>
  giveBack(bridgeName: string): Promise<void>
  /** False: other nodes may have taken over without this one noticing. */
  readonly holds: boolean
  /** This node no longer holds any lock. */
  onLost(listener: () => void): void
  /** Publishes the state of a bridge of this node to the other nodes. */
  tell(view: BridgeView): void
}

/** A dead node is removed within 3 s, which frees its locks. Views older than 5 s are discarded. */
const everyMs = 1000

const standby: Omit<BridgeView, 'bridgeName' | 'ownerName' | 'events'> = {
  ...{ state: 'standby', since: null, lastFailure: null, lagMs: 0, devicesOnline: 0 },
  ...{ waiting: 0, received: 0, sent: 0, dropped: 0 },
}

export class Bridges {
  readonly #deps: BridgeDeps
  readonly #all: readonly BridgeSettings[]
  readonly #locks: BridgeLocks | undefined
  readonly #running = new Map<string, Bridge>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopping = false

  constructor(deps: BridgeDeps, all: readonly BridgeSettings[], locks: BridgeLocks | undefined) {
    this.#deps = deps
    this.#all = all
    this.#locks = locks
  }

  /** In the order of the settings; bridges that another node runs are `standby` here. */
  views(): BridgeView[] {
    return this.#all.map(
      ({ bridgeName, ownerName, events: topic }) =>
        this.#running.get(bridgeName)?.view ?? {
          ...standby,
          ...{ bridgeName, ownerName },
          events: topic === undefined ? null : { topic, failingSince: null, leftOut: 0 },
        },
    )
  }

  start(): void {
    this.#locks?.onLost(() => this.#next(() => this.#dropAll()))
    this.#next(() => this.#takeFree())
    if (this.#locks === undefined) return
    this.#timer = setInterval(() => {
      this.#next(() => this.#takeFree())
      for (const { view } of this.#running.values()) this.#locks?.tell(view)
    }, everyMs)
    this.#timer.unref()
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await this.#work
    const names = [...this.#running.keys()]
    await this.#dropAll()
    for (const name of names) await this.#locks?.giveBack(name)
  }

  /** Runs the steps in sequence. */
  #next(step: () => Promise<void>): void {
    this.#work = this.#work
      .then(step)
      .catch((error: unknown) => this.#deps.tell({ kind: 'background-failed', task: 'carry bridges', error }))
  }

  async #takeFree(): Promise<void> {
    if (this.#isStopping) return
    if (this.#locks?.holds === false) {
      await this.#dropAll()
      return
    }
    for (const settings of this.#all) {
      const { bridgeName } = settings
      if (this.#running.has(bridgeName)) continue
      if (this.#locks && !(await this.#locks.take(bridgeName))) continue
      const bridge = new Bridge(this.#deps, settings)
      this.#running.set(bridgeName, bridge)
      bridge.start()
    }
  }

  async #dropAll(): Promise<void> {
    const running = [...this.#running.values()]
    this.#running.clear()
    await Promise.all(running.map((bridge) => bridge.stop()))
  }
}
