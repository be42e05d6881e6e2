// The devices of a long list, stored in slices and by column: an object per device, with separate names, would take three times
// the memory for a million devices.

import type { RunDevice, RunDevices } from '../../domain/trigger/launch-run.ts'

/** `names`: a JSON list. */
export type DeviceSlice = { deviceIds: string[]; deviceNos: Int32Array; names: string }

export class ListedDevices implements RunDevices {
  readonly #slices: DeviceSlice[] = []
  /** The position of the first device of each slice. */
  readonly #starts: number[] = []
  /** The slice that was read last. */
  #read: { sliceNo: number; names: string[] } = { sliceNo: -1, names: [] }
  length = 0

  add(slice: DeviceSlice): void {
    this.#starts.push(this.length)
    this.#slices.push(slice)
    this.length += slice.deviceIds.length
  }

  at(place: number): RunDevice | undefined {
    if (place < 0 || place >= this.length) return undefined
    const sliceNo = this.#sliceAt(place)
    const { deviceIds, deviceNos } = this.#slices[sliceNo] as DeviceSlice
    const index = place - (this.#starts[sliceNo] ?? 0)
    const deviceName = this.#namesOf(sliceNo)[index] ?? ''
    return { deviceNo: deviceNos[index] ?? 0, deviceId: deviceIds[index] ?? '', deviceName }
  }

  *[Symbol.iterator](): Generator<RunDevice> {
    for (let place = 0; place < this.length; place++) yield this.at(place) as RunDevice
  }

  *entries(): Generator<[number, RunDevice]> {
    let place = 0
    for (const device of this) yield [place++, device]
  }

  map<Value>(toValue: (device: RunDevice, place: number) => Value): Value[] {
    return Array.from(this, toValue)
  }

  forEach(look: (device: RunDevice, place: number) => void): void {
    for (const [place, device] of this.entries()) look(device, place)
  }

  every(isSo: (device: RunDevice, place: number) => boolean): boolean {
    return this.entries().every(([place, device]) => isSo(device, place))
  }

  /** The device numbers, without parsing names. */
  *numbers(): Generator<number> {
    for (const { deviceNos } of this.#slices) yield* deviceNos
  }

  /** Usually the slice that was read last, or the next. */
  #sliceAt(place: number): number {
    const isIn = (sliceNo: number) => {
      const start = this.#starts[sliceNo]
      return start !== undefined && place >= start && place < (this.#starts[sliceNo + 1] ?? this.length)
    }
    const { sliceNo } = this.#read
    if (isIn(sliceNo)) return sliceNo
    if (isIn(sliceNo + 1)) return sliceNo + 1
    return this.#starts.findLastIndex((start) => start <= place)
  }

  #namesOf(sliceNo: number): string[] {
    if (this.#read.sliceNo !== sliceNo)
      this.#read = { sliceNo, names: JSON.parse(this.#slices[sliceNo]?.names ?? '[]') }
    return this.#read.names
  }
}

/** The device numbers of any kind of list. */
export function numbersOf(devices: RunDevices): Iterable<number> {
  return devices instanceof ListedDevices ? devices.numbers() : devices.map(({ deviceNo }) => deviceNo)
}
