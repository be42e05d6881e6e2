// The tenant in a path is the name of an owner. Owners are not renamed, so lookups are cached for a while.

import type { DdiDeps } from './ddi-deps.ts'

const cachedForMs = 60_000
const maxCached = 10_000

/** The name of hawkBit's initial tenant. */
const firstTenant = 'DEFAULT'

export class Tenants {
  readonly #deps: Pick<DdiDeps, 'store' | 'elapsed'>
  readonly #found = new Map<string, { ownerNo: number; at: number }>()

  constructor(deps: Pick<DdiDeps, 'store' | 'elapsed'>) {
    this.#deps = deps
  }

  async ownerNoOf(tenant: string): Promise<number | undefined> {
    const at = this.#deps.elapsed()
    const cached = this.#found.get(tenant)
    if (cached && at - cached.at < cachedForMs) return cached.ownerNo
    const ownerName = tenant === firstTenant ? 'default' : tenant
    const owner = await this.#deps.store.findOwnerByName({ ownerName })
    if (owner === undefined) return undefined
    if (this.#found.size >= maxCached) this.#found.clear()
    this.#found.set(tenant, { ownerNo: owner.ownerNo, at })
    return owner.ownerNo
  }
}
