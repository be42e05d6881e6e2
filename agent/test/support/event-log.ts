// Events of agents, for which tests can wait.

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

  /** There will be no more events: waits fail with this message. */
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

  /** Resolves with the last of this number of events of a kind. */
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
