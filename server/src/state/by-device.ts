// A map keyed by device. Nested maps, because a fan-out looks up ten thousand devices and a combined key costs a string each.

import type { DeviceKey } from '../domain/device/device-key.ts'

export class ByDevice<T> {
  readonly #owners = new Map<number, Map<string, T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get({ ownerNo, deviceId }: DeviceKey): T | undefined {
    return this.#owners.get(ownerNo)?.get(deviceId)
  }

  set({ ownerNo, deviceId }: DeviceKey, value: T): void {
    let devices = this.#owners.get(ownerNo)
    if (devices === undefined) {
      devices = new Map()
      this.#owners.set(ownerNo, devices)
    }
    if (!devices.has(deviceId)) this.#size++
    devices.set(deviceId, value)
  }

  delete({ ownerNo, deviceId }: DeviceKey): boolean {
    const had = this.#owners.get(ownerNo)?.delete(deviceId) ?? false
    if (had) this.#size--
    return had
  }

  values(): T[] {
    return [...this.#owners.values()].flatMap((devices) => [...devices.values()])
  }
}
