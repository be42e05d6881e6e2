// The bridges of this node: it carries each one whose lock it holds, and takes those that nobody holds.

import type { BridgeView } from '../../domain/bridge/bridge.ts'
import { Bridge, type BridgeDeps } from './bridge.ts'
import type { BridgeSettings } from './bridge-settings.ts'

/** Where there are several nodes: one of them carries a bridge. */
export type BridgeLocks = {
  take(bridgeName: string): Promise<boolean>
  giveBack(bridgeName: string): Promise<void>
  /** False: other nodes may have taken over without this one noticing. */
  readonly holds: boolean
  /** This node holds none any more. */
  onLost(listener: () => void): void
  /** How a bridge of this node is doing, for the others. */
  tell(view: BridgeView): void
}

/** Others remove a node that is gone after up to 3 s; then its locks are free. What is older than 5 s is not believed. */
const everyMs = 1000

const standby: Omit<BridgeView, 'bridgeName' | 'ownerName' | 'events'> = {
  ...{ state: 'standby', since: null, lastFailure: null, lagMs: 0, devicesOnline: 0 },
  ...{ waiting: 0, received: 0, sent: 0, dropped: 0 },
}

export class Bridges {
  readonly #deps: BridgeDeps
  readonly #all: readonly BridgeSettings[]
  readonly #locks: BridgeLocks | undefined
  readonly #carried = new Map<string, Bridge>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopping = false

  constructor(deps: BridgeDeps, all: readonly BridgeSettings[], locks: BridgeLocks | undefined) {
    this.#deps = deps
    this.#all = all
    this.#locks = locks
  }

  /** In the order of the settings; those that another node carries are `standby` here. */
  views(): BridgeView[] {
    return this.#all.map(
      ({ bridgeName, ownerName, events: topic }) =>
        this.#carried.get(bridgeName)?.view ?? {
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
      for (const { view } of this.#carried.values()) this.#locks?.tell(view)
    }, everyMs)
    this.#timer.unref()
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await this.#work
    const names = [...this.#carried.keys()]
    await this.#dropAll()
    for (const name of names) await this.#locks?.giveBack(name)
  }

  /** One after the other. */
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
      if (this.#carried.has(bridgeName)) continue
      if (this.#locks && !(await this.#locks.take(bridgeName))) continue
      const bridge = new Bridge(this.#deps, settings)
      this.#carried.set(bridgeName, bridge)
      bridge.start()
    }
  }

  async #dropAll(): Promise<void> {
    const carried = [...this.#carried.values()]
    this.#carried.clear()
    await Promise.all(carried.map((bridge) => bridge.stop()))
  }
}
