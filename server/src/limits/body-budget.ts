// Bytes of request bodies that are being received: 120 connections of one key took 570 MB. Whoever holds too many of
// them is refused, not the others.

import { ApiError } from '@jobcast/contract'
import { describeQuota, type QuotaName, type Quotas } from '../domain/access/quotas.ts'

/** Whose body it is; undefined: nobody has signed in. */
export type BodyOwner = { key: string; owner: string }

type BodyQuota = Extract<QuotaName, `max-${'key' | 'owner' | 'node'}-body-bytes`>

/** A body up to this size is not refused for what all others together hold: small calls go on. */
const smallBytes = 16 * 1024
const retryAfterSeconds = 1

export class BodyBudget {
  readonly #quotas: Quotas
  readonly #onRefused: (quota: BodyQuota) => void
  /** By quota and whose it is. */
  readonly #held = new Map<string, number>()

  constructor(quotas: Quotas, onRefused: (quota: BodyQuota) => void = () => undefined) {
    this.#quotas = quotas
    this.#onRefused = onRefused
  }

  /** Of all bodies. */
  get heldBytes(): number {
    return this.#held.get('max-node-body-bytes ') ?? 0
  }

  hold(of: BodyOwner | undefined): HeldBody {
    const shares: [BodyQuota, string][] = [['max-node-body-bytes', '']]
    if (of) shares.unshift(['max-key-body-bytes', of.key], ['max-owner-body-bytes', of.owner])
    return new HeldBody(this, shares)
  }

  /** `own`: what the body itself holds, these bytes included. The only body of somebody may have any size. */
  requireRoom(shares: [BodyQuota, string][], bytes: number, own: number): void {
    for (const [quota, who] of shares) {
      const limit = this.#quotas[quota]
      const total = (this.#held.get(`${quota} ${who}`) ?? 0) + bytes
      const isOver = limit > 0 && total > limit && total > own
      if (!isOver || (quota === 'max-node-body-bytes' && own <= smallBytes)) continue
      this.#onRefused(quota)
      const detail = `There can be ${describeQuota(quota, limit)}.`
      throw new ApiError(quota === 'max-node-body-bytes' ? 'J-908' : 'J-911', { detail, retryAfterSeconds })
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

  /** Throws J-911, or J-908 if all together hold too much. */
  add(bytes: number): void {
    if (this.#isReleased) return
    this.#budget.requireRoom(this.#shares, bytes, this.#bytes + bytes)
    this.#budget.change(this.#shares, bytes)
    this.#bytes += bytes
  }

  /** Of what was used before the body is whole. */
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
