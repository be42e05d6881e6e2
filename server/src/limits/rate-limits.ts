// Rate limits of clients and devices. All are far above ordinary use; 0 disables one.

import { type LimitName, limitNames, type RateLimit } from '@jobcast/contract'
import { TokenBuckets } from './token-buckets.ts'

/** Per second. */
export type Rates = Record<LimitName, number>

/** A burst may use this many seconds' worth of requests. */
const burstSeconds = 10

/** Default limits, and what each one counts. */
export const defaultRates = [
  { name: 'address', limit: 100, what: 'requests without a key per address' },
  { name: 'sign-in', limit: 10, what: 'failed sign-ins per address' },
  { name: 'key', limit: 10_000, what: 'requests per API key' },
  { name: 'owner', limit: 20_000, what: 'requests with the API keys of one owner' },
  { name: 'device', limit: 1000, what: 'requests or MQTT packets per device' },
  { name: 'session', limit: 5, what: 'sessions and tickets made per API key, and per owner and address' },
] as const satisfies { name: LimitName; limit: number; what: string }[]

export const unlimited: Rates = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 }

export class RateLimits {
  readonly #buckets: Partial<Record<LimitName, TokenBuckets>> = {}

  /** Requests on connections that were cut off, by address. Uses the rate of an address, and allows debt. */
  readonly #cut: TokenBuckets | undefined

  readonly #onExceeded: (name: LimitName) => void

  constructor(rates: Rates, elapsed: () => number, onExceeded: (name: LimitName) => void = () => undefined) {
    this.#onExceeded = onExceeded
    const perSecond = rates.address
    this.#cut =
      perSecond === 0 ? undefined : new TokenBuckets({ perSecond, burst: perSecond * burstSeconds, elapsed })
    for (const name of limitNames) {
      const perSecond = rates[name]
      if (perSecond === 0) continue
      this.#buckets[name] = new TokenBuckets({ perSecond, burst: perSecond * burstSeconds, elapsed })
    }
  }

  /** Whether the next request would be refused. Takes no token and reports nothing. */
  isOver(name: LimitName, who: string): boolean {
    return this.#buckets[name]?.isEmpty(who) ?? false
  }

  /** Charges requests that will not be answered. */
  chargeCut(address: string, requests: number): void {
    this.#cut?.charge(address, requests)
  }

  /** Whether no connection is accepted from the address. */
  isCutOff(address: string): boolean {
    return this.#cut?.isEmpty(address) ?? false
  }

  /** Undefined: within the limit. `who` is what the limit is counted by. */
  take(name: LimitName, who: string, cost = 1): RateLimit | undefined {
    const buckets = this.#buckets[name]
    const waitMs = buckets?.take(who, cost) ?? 0
    if (buckets === undefined || waitMs === 0) return undefined
    this.#onExceeded(name)
    return {
      name,
      quota: buckets.burst,
      windowSeconds: burstSeconds,
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    }
  }
}
