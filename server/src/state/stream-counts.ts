// Counts the open streams of each key and each owner on this node.

import { overQuota, type Quotas } from '../domain/access/quotas.ts'

type StreamQuota = 'key-streams' | 'streams'

export class StreamCounts {
  readonly #quotas: Quotas
  readonly #open = new Map<string, number>()

  constructor(quotas: Quotas) {
    this.#quotas = quotas
  }

  /** Returns a function to call once when the stream has ended. Throws ApiError if too many are open. */
  open({ keyId, ownerNo }: { keyId: string; ownerNo: number }): () => void {
    const counted: [StreamQuota, string][] = [
      ['key-streams', `key ${keyId}`],
      ['streams', `owner ${ownerNo}`],
    ]
    for (const [quota, who] of counted) {
      const limit = this.#quotas[quota]
      if (limit > 0 && (this.#open.get(who) ?? 0) >= limit) throw overQuota(quota, limit)
    }
    for (const [, who] of counted) this.#open.set(who, (this.#open.get(who) ?? 0) + 1)
    return () => {
      for (const [, who] of counted) this.#close(who)
    }
  }

  #close(who: string): void {
    const left = (this.#open.get(who) ?? 0) - 1
    if (left > 0) this.#open.set(who, left)
    else this.#open.delete(who)
  }
}
