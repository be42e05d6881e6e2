// Owners with a frozen fleet, cached on this node so that it notifies none of their devices. The store is authoritative, and
// starts nothing for them.

import type { Store } from '../domain/common/ports/store.ts'

export class Freezes {
  readonly #store: Pick<Store, 'listFreezes'>
  #frozen = new Map<number, number | null>()
  /** Called for each owner whose fleet was frozen or unfrozen. */
  onChange: (ownerNo: number) => void = () => undefined

  /** In a cluster: tells the other nodes. */
  forward: () => void = () => undefined

  constructor(store: Pick<Store, 'listFreezes'>) {
    this.#store = store
  }

  has(ownerNo: number): boolean {
    return this.#frozen.size > 0 && this.#frozen.has(ownerNo)
  }

  /** Call after a change on this node. */
  async changed(): Promise<void> {
    this.forward()
    await this.refresh()
  }

  /** Owners whose freeze has ended by `now`. */
  endedBy(now: number): number[] {
    return [...this.#frozen].filter(([, until]) => until !== null && until <= now).map(([ownerNo]) => ownerNo)
  }

  async refresh(): Promise<void> {
    const found = await this.#store.listFreezes()
    if (found.length === 0 && this.#frozen.size === 0) return
    const before = this.#frozen
    this.#frozen = new Map(found.map(({ ownerNo, until }) => [ownerNo, until]))
    const all = new Set([...before.keys(), ...this.#frozen.keys()])
    for (const ownerNo of all) if (before.has(ownerNo) !== this.#frozen.has(ownerNo)) this.onChange(ownerNo)
  }
}
