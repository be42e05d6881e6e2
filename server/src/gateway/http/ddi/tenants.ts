// The tenant in a path is the name of an owner. Names do not change, so those that were found are remembered for a while.

import type { DdiDeps } from './ddi-deps.ts'

const rememberedForMs = 60_000
const maxRemembered = 10_000

/** hawkBit's own name of its first tenant. */
const firstTenant = 'DEFAULT'

export class Tenants {
  readonly #deps: Pick<DdiDeps, 'store' | 'elapsed'>
  readonly #found = new Map<string, { ownerNo: number; at: number }>()

  constructor(deps: Pick<DdiDeps, 'store' | 'elapsed'>) {
    this.#deps = deps
  }

  async ownerNoOf(tenant: string): Promise<number | undefined> {
    const at = this.#deps.elapsed()
    const remembered = this.#found.get(tenant)
    if (remembered && at - remembered.at < rememberedForMs) return remembered.ownerNo
    const ownerName = tenant === firstTenant ? 'default' : tenant
    const owner = await this.#deps.store.findOwnerByName({ ownerName })
    if (owner === undefined) return undefined
    if (this.#found.size >= maxRemembered) this.#found.clear()
    this.#found.set(tenant, { ownerNo: owner.ownerNo, at })
    return owner.ownerNo
  }
}
