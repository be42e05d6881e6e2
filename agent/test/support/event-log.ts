// What agents told, for tests to wait for.

import { within } from '@jobcast/testkit/within'
import type { AgentEvent } from '../../src/events.ts'

const failsafeMs = 90_000

export class EventLog {
  readonly events: AgentEvent[] = []
  readonly #watchers = new Set<() => void>()
  readonly #failed = Promise.withResolvers<never>()

  constructor() {
    this.#failed.promise.catch(() => undefined)
  }

  /** Nothing more will be told: whoever waits gets this message. */
  fail(message: string): void {
    this.#failed.reject(new Error(message))
  }

  readonly tell = (event: AgentEvent): void => {
    this.events.push(event)
    for (const watcher of this.#watchers) watcher()
  }

  of<K extends AgentEvent['kind']>(kind: K): Extract<AgentEvent, { kind: K }>[] {
    return this.events.filter((event) => event.kind === kind) as Extract<AgentEvent, { kind: K }>[]
  }

  /** Resolves when this kind was told so many times, with the last of them. */
  async until<K extends AgentEvent['kind']>(kind: K, times = 1): Promise<Extract<AgentEvent, { kind: K }>> {
    await this.untilTrue(() => this.of(kind).length >= times, `${kind} was not told ${times} times`)
    return this.of(kind)[times - 1] as Extract<AgentEvent, { kind: K }>
  }

  async untilTrue(isTrue: () => boolean, what: string): Promise<void> {
    const reached = Promise.withResolvers<void>()
    const look = () => {
      if (isTrue()) reached.resolve()
    }
    this.#watchers.add(look)
    look()
    const either = Promise.race([reached.promise, this.#failed.promise])
    await within(failsafeMs, () => `${what}: ${JSON.stringify(this.events)}`, either)
    this.#watchers.delete(look)
  }
}
