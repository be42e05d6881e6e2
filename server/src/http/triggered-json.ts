// The answer to a trigger, built in pieces: JSON.stringify would need an object per device and encode the same names
// every time.

import { toLaunchedAt } from '@jobcast/contract'
import type { LaunchedRun } from '../domain/ports/triggers.ts'
import { nextTurn } from './turns.ts'

type NamedDevice = LaunchedRun['devices'][number]

// Longer texts are encoded as they grow: V8 would copy one large text twice, to measure and to write it.
const devicesPerPiece = 32

// The two fields of a device, encoded once and dropped together with the device. Not for runs of a whole large fleet: a
// million devices would keep hundreds of megabytes for the next such run.
const maxEncodedDevices = 10_000

/** The answer to a larger run is sent in pieces: as a whole it would take up 150 MB for a million devices. */
export const mostAtOnce = 10_000
const devicesPerTurn = 500

const encodedFields = new WeakMap<NamedDevice, string>()

export function triggeredJson(run: LaunchedRun): string | Buffer {
  const total = run.devices.length
  if (total <= devicesPerPiece) return `[${encodePiece(run, 0, total)}]`

  let bytes: Buffer = Buffer.allocUnsafe(0)
  let length = 0
  for (let from = 0; from < total; from += devicesPerPiece) {
    const to = Math.min(from + devicesPerPiece, total)
    const piece = (from === 0 ? '[' : ',') + encodePiece(run, from, to) + (to === total ? ']' : '')
    // UTF-8 needs at most three bytes per UTF-16 unit.
    if (length + 3 * piece.length > bytes.length) {
      bytes = grown(bytes, length, (total - from) * (piece.length / (to - from)) + 3 * piece.length)
    }
    length += bytes.write(piece, length)
  }
  return bytes.subarray(0, length)
}

/** The same bytes; between two pieces others have their turn. */
export async function* triggeredPieces(run: LaunchedRun): AsyncGenerator<string> {
  const total = run.devices.length
  for (let from = 0; from < total; from += devicesPerTurn) {
    const to = Math.min(from + devicesPerTurn, total)
    yield (from === 0 ? '[' : ',') + encodePiece(run, from, to) + (to === total ? ']' : '')
    await nextTurn()
  }
}

function encodePiece(
  { jobName, launchedAt, firstExecutionId, devices, order }: LaunchedRun,
  from: number,
  to: number,
): string {
  const middle = `,"jobName":${JSON.stringify(jobName)},`
  const end = `,"execState":"PENDING","launchedAt":"${toLaunchedAt(launchedAt)}"}`
  const fieldsOf = devices.length > maxEncodedDevices ? encodeFields : deviceFields
  let text = ''
  for (let index = from; index < to; index++) {
    text += index === from ? '{"jobExecutionId":' : ',{"jobExecutionId":'
    const at = order?.[index] ?? index
    text += firstExecutionId + at + middle + fieldsOf(devices[at] as NamedDevice) + end
  }
  return text
}

function deviceFields(device: NamedDevice): string {
  let fields = encodedFields.get(device)
  if (fields === undefined) {
    fields = encodeFields(device)
    encodedFields.set(device, fields)
  }
  return fields
}

function encodeFields({ deviceId, deviceName }: NamedDevice): string {
  return `"deviceId":${JSON.stringify(deviceId)},"deviceName":${JSON.stringify(deviceName)}`
}

function grown(bytes: Buffer, length: number, more: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.ceil(length + more * 1.1))
  bytes.copy(larger, 0, 0, length)
  return larger
}
