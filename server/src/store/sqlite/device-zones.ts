// The zone of each device, two bytes per device, because a whole fleet may have zones.

import { defaultZone } from '../../domain/window/device-zone.ts'

/** The limit of two bytes; there are some hundred zones. */
const mostZones = 65_535

export class DeviceZones {
  #zoneNos = new Uint16Array(1024)
  readonly #names: string[] = [defaultZone]
  readonly #numbers = new Map([[defaultZone, 0]])

  of(deviceNo: number): string {
    return this.#names[this.#zoneNos[deviceNo] ?? 0] ?? defaultZone
  }

  set(deviceNo: number, zone: string): void {
    if (deviceNo >= this.#zoneNos.length) this.#grow(deviceNo)
    this.#zoneNos[deviceNo] = this.#numberOf(zone)
  }

  #numberOf(zone: string): number {
    const known = this.#numbers.get(zone)
    if (known !== undefined) return known
    if (this.#names.length >= mostZones) return 0
    this.#names.push(zone)
    this.#numbers.set(zone, this.#names.length - 1)
    return this.#names.length - 1
  }

  #grow(deviceNo: number): void {
    const grown = new Uint16Array(Math.max(this.#zoneNos.length * 2, deviceNo + 1))
    grown.set(this.#zoneNos)
    this.#zoneNos = grown
  }
}
