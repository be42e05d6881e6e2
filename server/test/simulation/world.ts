// Shared state of one simulation.

import type { DatabaseSync } from 'node:sqlite'
import type { Random } from '@jobcast/testkit/seeded-random'
import { SimulatedNode } from './simulated-node.ts'
import { SimulatedReceiver } from './simulated-receiver.ts'
import type { ThreadConditions, ThreadFault } from './simulated-thread.ts'
import type { Tenant } from './tenant.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What can be wrong on purpose, so that it is seen to be found. */
export const defects = ['without-rechecks', 'error-after-commit'] as const
export type Defect = (typeof defects)[number]

type WorldOptions = {
  db: DatabaseSync
  time: VirtualTime
  random: Random
  defect: Defect | undefined
  /** As between real threads; otherwise they share what they send each other. */
  copiesMessages: boolean
}

export class World {
  readonly time: VirtualTime
  readonly random: Random
  readonly problems: string[] = []
  readonly tenants: Tenant[] = []
  /** From here on nothing goes wrong any more, and everything must come to its end. */
  isQuiet = false
  isOver = false
  /** Devices, as `deviceText` writes them, that cannot sign in: they are deleted, or may be. */
  readonly deleted = new Set<string>()
  kills = 0
  node: SimulatedNode
  /** When something last went wrong that may cost time. */
  disturbedAt = 0
  readonly #options: WorldOptions
  readonly #receiver = new SimulatedReceiver(this)
  #isStorageBad = false
  #isSlow = false
  #next = Promise.withResolvers<void>()

  constructor(options: WorldOptions) {
    this.#options = options
    this.time = options.time
    this.random = options.random
    this.node = this.#startNode()
  }

  readonly delayMs = (): number => {
    const { random } = this
    if (this.isQuiet) return 1 + random.below(5)
    return random.chance(0.05) ? random.below(2000) : random.below(20)
  }

  readonly mayDuplicate = (): boolean => !this.isQuiet && this.random.chance(0.05)

  /** Kill -9; the next one starts after a while. */
  killNode(downMs: number): void {
    this.kills++
    this.disturbedAt = this.time.elapsed + downMs
    this.node.kill()
    this.time.after(downMs, () => {
      this.node = this.#startNode()
      void this.node.parts.store.setAllOffline({ at: this.time.now() }).catch(() => undefined)
      this.#next.resolve()
      this.#next = Promise.withResolvers()
    })
  }

  /** The node that runs, or will run next. */
  async running(): Promise<SimulatedNode> {
    while (this.node.isKilled) await this.#next.promise
    return this.node
  }

  /** For so long writes and reads fail, or take long. */
  disturbStorage(kind: 'bad' | 'slow', ms: number): void {
    this.disturbedAt = Math.max(this.disturbedAt, this.time.elapsed + ms)
    const set = (to: boolean) => {
      if (kind === 'bad') this.#isStorageBad = to
      else this.#isSlow = to
    }
    set(true)
    this.time.after(ms, () => set(false))
  }

  #startNode(): SimulatedNode {
    const { db, time, random, defect } = this.#options
    const withoutRechecks = defect === 'without-rechecks'
    const post: SimulatedReceiver['post'] = (message) => this.#receiver.post(message)
    return new SimulatedNode({ db, time, random, conditions: this.#conditions, withoutRechecks, post })
  }

  readonly #conditions: ThreadConditions = {
    copy: (message) => (this.#options.copiesMessages ? structuredClone(message) : message),
    stepMs: () => (this.#isSlow && !this.isQuiet ? this.random.below(800) : this.random.below(4) / 2),
    fault: (name) => this.#fault(name),
  }

  #fault(name: string): ThreadFault {
    const { random } = this
    if (this.isQuiet || name === 'setAllOffline') return undefined
    if (
      this.#options.defect === 'error-after-commit' &&
      (name === 'recordTriggers' || name === 'recordPacked') &&
      random.chance(0.05)
    ) {
      return 'committed-error'
    }
    if (this.#isStorageBad) return random.chance(0.7) ? 'unavailable' : undefined
    if (!random.chance(0.01)) return undefined
    // The sweep makes up for one that it hits.
    this.disturbedAt = Math.max(this.disturbedAt, this.time.elapsed)
    return random.pick(['unavailable', 'error'])
  }
}
