// The receiver of webhooks in simulated time: it may be slow, and refuses or loses some events when they come first.

import type { Random } from '@jobcast/testkit/seeded-random'
import type { Answer } from '../../src/dispatch/webhooks/event-poster.ts'
import type { Message } from '../../src/dispatch/webhooks/sign-event.ts'
import type { Tenant } from './tenant.ts'
import type { VirtualTime } from './virtual-time.ts'

type Surroundings = {
  readonly time: VirtualTime
  readonly random: Random
  readonly tenants: readonly Tenant[]
  readonly isQuiet: boolean
  delayMs(): number
}

export class SimulatedReceiver {
  readonly #world: Surroundings
  readonly #refused = new Set<string>()

  constructor(world: Surroundings) {
    this.#world = world
  }

  async post({ url, headers, body }: Message): Promise<Answer> {
    const { time, random, tenants } = this.#world
    await time.sleep(this.#world.delayMs())
    const tenant = tenants.find(({ name }) => url.endsWith(`/${name}`))
    if (tenant === undefined) throw new Error(`nobody receives at ${url}`)
    const id = String(headers['webhook-id'])
    // Refused twice it would come again minutes later.
    const isRefused = !this.#world.isQuiet && !this.#refused.has(`${url} ${id}`) && random.chance(0.05)
    if (isRefused) this.#refused.add(`${url} ${id}`)
    tenant.posts.push({ id, body, event: JSON.parse(body), accepted: !isRefused })
    await time.sleep(this.#world.delayMs())
    return isRefused
      ? { status: 500, error: 'answered 500', retryAfterMs: 0 }
      : { status: 204, error: null, retryAfterMs: 0 }
  }
}
