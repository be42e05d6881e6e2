// Limits the bytes of request bodies being received: 120 connections of one key took 570 MB. Callers that hold too many are
// refused, not the others.

import { ApiError } from '@jobcast/contract'
import { describeQuota, type QuotaName, type Quotas } from '../domain/access/quotas.ts'

/** The caller that sends a body. */
export type BodyOwner = { key: string; owner: string }

type BodyQuota = Extract<QuotaName, 'key-body-bytes' | 'body-bytes' | 'node-body-bytes'>

/** Bodies up to this size are exempt from the node's limit, so that small calls continue. */
const smallBytes = 16 * 1024
const retryAfterSeconds = 1

export class BodyBudget {
  readonly #quotas: Quotas
  readonly #onRefused: (quota: BodyQuota) => void
  /** Keyed by quota and caller. */
  readonly #held = new Map<string, number>()

  constructor(quotas: Quotas, onRefused: (quota: BodyQuota) => void = () => undefined) {
    this.#quotas = quotas
    this.#onRefused = onRefused
  }

  /** Bytes of all bodies. */
  get heldBytes(): number {
    return this.#held.get('node-body-bytes ') ?? 0
  }

  hold(of: BodyOwner | undefined): HeldBody {
    const shares: [BodyQuota, string][] = [['node-body-bytes', '']]
    if (of) shares.unshift(['key-body-bytes', of.key], ['body-bytes', of.owner])
    return new HeldBody(this, shares)
  }

  /** `own`: bytes of this body, including the new ones. A caller's only body may have any size. */
  requireRoom(shares: [BodyQuota, string][], bytes: number, own: number): void {
    for (const [quota, who] of shares) {
      const limit = this.#quotas[quota]
      const total = (this.#held.get(`${quota} ${who}`) ?? 0) + bytes
      const isOver = limit > 0 && total > limit && total > own
      if (!isOver || (quota === 'node-body-bytes' && own <= smallBytes)) continue
      this.#onRefused(quota)
      const detail = `There can be ${describeQuota(quota, limit)}.`
      throw new ApiError(quota === 'node-body-bytes' ? 'J-908' : 'J-911', { detail, retryAfterSeconds })
    }
  }

  change(shares: [BodyQuota, string][], bytes: number): void {
    for (const [quota, who] of shares) {
      const name = `${quota} ${who}`
      const total = (this.#held.get(name) ?? 0) + bytes
      if (total === 0) this.#held.delete(name)
      else this.#held.set(name, total)
    }
  }
}

export class HeldBody {
  readonly #budget: BodyBudget
  readonly #shares: [BodyQuota, string][]
  #bytes = 0
  #isReleased = false

  constructor(budget: BodyBudget, shares: [BodyQuota, string][]) {
    this.#budget = budget
    this.#shares = shares
  }

  /** Throws J-911, or J-908 if the node's limit is exceeded. */
  add(bytes: number): void {
    if (this.#isReleased) return
    this.#budget.requireRoom(this.#shares, bytes, this.#bytes + bytes)
    this.#budget.change(this.#shares, bytes)
    this.#bytes += bytes
  }

  /** For bytes that were processed before the body is complete. */
  subtract(bytes: number): void {
    if (this.#isReleased) return
    this.#budget.change(this.#shares, -bytes)
    this.#bytes -= bytes
  }

  release(): void {
    this.subtract(this.#bytes)
    this.#isReleased = true
  }
}
