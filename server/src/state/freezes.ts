// Owners to whose devices nothing is offered, as this node knows it: so that it tells no device of a new run. The store
// has the truth, and lets nothing begin.

import type { Store } from '../domain/common/ports/store.ts'

export class Freezes {
  readonly #store: Pick<Store, 'listFreezes'>
  #frozen = new Map<number, number | null>()
  /** Called for each owner whose fleet was frozen or is no longer. */
  onChange: (ownerNo: number) => void = () => undefined

  /** With several nodes: tells the others. */
  forward: () => void = () => undefined

  constructor(store: Pick<Store, 'listFreezes'>) {
    this.#store = store
  }

  has(ownerNo: number): boolean {
    return this.#frozen.size > 0 && this.#frozen.has(ownerNo)
  }

  /** It was changed here. */
  async changed(): Promise<void> {
    this.forward()
    await this.refresh()
  }

  /** Owners whose freeze is over by then. */
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
