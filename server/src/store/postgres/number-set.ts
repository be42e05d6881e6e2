// A bit set for dense whole numbers from 0 to 2^31 - 1. A Set of a million numbers takes forty times the memory, and blocks
// while it grows.

const bitsOfPage = 2 ** 16

export class NumberSet {
  readonly #pages = new Map<number, Uint8Array>()

  /** False: the set already contained the value. */
  add(value: number): boolean {
    const pageNo = Math.floor(value / bitsOfPage)
    let page = this.#pages.get(pageNo)
    if (page === undefined) {
      page = new Uint8Array(bitsOfPage / 8)
      this.#pages.set(pageNo, page)
    }
    const at = (value % bitsOfPage) >> 3
    const bit = 1 << (value & 7)
    const before = page[at] ?? 0
    page[at] = before | bit
    return (before & bit) === 0
  }
}
