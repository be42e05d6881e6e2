// The response to a trigger, written by hand: JSON.stringify would need an object per device and encode the same names
// every time.

import { toLaunchedAt } from '@jobcast/contract'
import type { LaunchedDevice, LaunchedRun } from '../../domain/trigger/launched-run.ts'
import { nextTurn } from '../../state/turns.ts'

/** Larger responses are written as bytes: V8 would copy one large string twice, to measure and to write it. */
const mostAsText = 8

// The two fields of a device are encoded once and cached with the device. Not for runs on a whole large fleet: a million
// devices would hold hundreds of megabytes until the next such run.
const maxEncodedDevices = 10_000

/** The response for a larger run is sent in pieces: as a whole it would take 150 MB for a million devices. */
export const mostAtOnce = 10_000
const devicesPerTurn = 500

export function triggeredJson(run: LaunchedRun): string | Buffer {
  const total = run.devices.length
  return total <= mostAsText ? encodeText(run) : encodeBytes(run, 0, total)
}

/** Yields the same bytes in pieces, and releases the event loop between them. */
export async function* triggeredPieces(run: LaunchedRun): AsyncGenerator<Buffer> {
  const total = run.devices.length
  for (let from = 0; from < total; from += devicesPerTurn) {
    yield encodeBytes(run, from, Math.min(from + devicesPerTurn, total))
    await nextTurn()
  }
}

const begin = '{"jobExecutionId":'

/** The text between the id and the fields of the device, and the text after them. */
function aroundFields({ jobName, launchedAt }: LaunchedRun): { middle: string; end: string } {
  return {
    middle: `,"jobName":${JSON.stringify(jobName)},`,
    end: `,"execState":"PENDING","launchedAt":"${toLaunchedAt(launchedAt)}"}`,
  }
}

function encodeText(run: LaunchedRun): string {
  const { firstExecutionId, devices, order } = run
  const { middle, end } = aroundFields(run)
  let text = ''
  for (let index = 0; index < devices.length; index++) {
    const at = order?.[index] ?? index
    const fields = keptFields(devices.at(at) as LaunchedDevice)
    text += `${index === 0 ? '[' : ','}${begin}${firstExecutionId + at}${middle}${fields}${end}`
  }
  return `${text}]`
}

/** A part of the response, with the comma or bracket before it, and after the last device the closing bracket. */
function encodeBytes(run: LaunchedRun, from: number, to: number): Buffer {
  const { firstExecutionId, devices, order } = run
  const { middle, end } = aroundFields(run)
  const fieldsOf = devices.length > maxEncodedDevices ? encodeFields : keptFields
  const lead = new NumberedBytes(`${end},${begin}`, middle)
  let bytes: Buffer = Buffer.allocUnsafe(0)
  let length = 0
  for (let index = from; index < to; index++) {
    const at = order?.[index] ?? index
    const before = lead.with(firstExecutionId + at)
    const fields = fieldsOf(devices.at(at) as LaunchedDevice)
    const size = before.length + fields.length
    if (length + size + end.length >= bytes.length) bytes = grown(bytes, length, size * (to - index))
    bytes.set(before, length)
    length += before.length
    if (typeof fields === 'string') bytes.write(fields, length, 'latin1')
    else bytes.set(fields, length)
    length += fields.length
  }
  const isLast = to === devices.length
  length += bytes.write(isLast ? `${end}]` : end, length, 'latin1')
  // The end of the device before the first one is not sent; the comma after it is, or a bracket at the start of the list.
  if (from === 0) bytes.write('[', end.length, 'latin1')
  return bytes.subarray(end.length, length)
}

/** Repeats the same bytes with a number that usually is the previous one plus one. */
class NumberedBytes {
  readonly #before: string
  readonly #after: string
  #number = Number.NaN
  #bytes = Buffer.allocUnsafe(0)
  #lastDigit = 0

  /** `before`: ASCII. */
  constructor(before: string, after: string) {
    this.#before = before
    this.#after = after
  }

  /** The result is valid until the next call. */
  with(number: number): Buffer {
    if (number !== this.#number + 1 || !this.#countUp()) {
      const text = `${this.#before}${number}`
      this.#bytes = Buffer.from(text + this.#after)
      this.#lastDigit = text.length - 1
    }
    this.#number = number
    return this.#bytes
  }

  /** False: the next number is one digit longer. */
  #countUp(): boolean {
    const bytes = this.#bytes
    let at = this.#lastDigit
    for (; bytes[at] === nine; at--) bytes[at] = zero
    if (at < this.#before.length) return false
    bytes[at] = (bytes[at] as number) + 1
    return true
  }
}

const [zero, nine] = [0x30, 0x39]

function keptFields(device: LaunchedDevice): string | Buffer {
  device.encoded ??= encodeFields(device)
  return device.encoded
}

/** Stored as a string if it is ASCII, which takes half as much memory. */
function encodeFields({ deviceId, deviceName }: LaunchedDevice): string | Buffer {
  const fields = `"deviceId":${JSON.stringify(deviceId)},"deviceName":${JSON.stringify(deviceName)}`
  return Buffer.byteLength(fields) === fields.length ? fields : Buffer.from(fields)
}

function grown(bytes: Buffer, length: number, more: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.ceil(length + more * 1.1) + 256)
  larger.set(bytes.subarray(0, length))
  return larger
}
