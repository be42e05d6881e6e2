/** A set of device numbers, one bit each: 12 KB for a fleet of 100,000. */
export class GivenDevices {
  #bits = new Uint32Array(32)

  has(deviceNo: number): boolean {
    return ((this.#bits[deviceNo >>> 5] ?? 0) & (1 << (deviceNo & 31))) !== 0
  }

  add(deviceNo: number): void {
    const at = deviceNo >>> 5
    if (at >= this.#bits.length) {
      const larger = new Uint32Array(Math.max(at + 1, this.#bits.length * 2))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (deviceNo & 31))
  }
}
