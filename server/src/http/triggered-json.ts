// The answer to a trigger, built in pieces: JSON.stringify would need an object per device and encode the same names
// every time.

import { toLaunchedAt } from '@jobcast/contract'
import type { LaunchedDevice, LaunchedRun } from '../domain/ports/triggers.ts'
import { nextTurn } from './turns.ts'

// Longer texts are encoded as they grow: V8 would copy one large text twice, to measure and to write it.
const devicesPerPiece = 32

// The two fields of a device are encoded once and kept with it. Not for runs of a whole large fleet: a million devices
// would keep hundreds of megabytes for the next such run.
const maxEncodedDevices = 10_000

/** The answer to a larger run is sent in pieces: as a whole it would take up 150 MB for a million devices. */
export const mostAtOnce = 10_000
const devicesPerTurn = 500

export function triggeredJson(run: LaunchedRun): string | Buffer {
  const total = run.devices.length
  const encode = pieceEncoder(run)
  if (total <= devicesPerPiece) return `[${encode(0, total)}]`

  let bytes: Buffer = Buffer.allocUnsafe(0)
  let length = 0
  for (let from = 0; from < total; from += devicesPerPiece) {
    const to = Math.min(from + devicesPerPiece, total)
    const piece = (from === 0 ? '[' : ',') + encode(from, to) + (to === total ? ']' : '')
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
  const encode = pieceEncoder(run)
  for (let from = 0; from < total; from += devicesPerTurn) {
    const to = Math.min(from + devicesPerTurn, total)
    yield (from === 0 ? '[' : ',') + encode(from, to) + (to === total ? ']' : '')
    await nextTurn()
  }
}

function pieceEncoder({ jobName, launchedAt, firstExecutionId, devices, order }: LaunchedRun) {
  const middle = inOne(`,"jobName":${JSON.stringify(jobName)},`, devices.length)
  const end = inOne(`,"execState":"PENDING","launchedAt":"${toLaunchedAt(launchedAt)}"}`, devices.length)
  const fieldsOf = devices.length > maxEncodedDevices ? encodeFields : deviceFields
  return (from: number, to: number) => {
    let text = ''
    for (let index = from; index < to; index++) {
      const at = order === undefined ? index : (order[index] ?? index)
      const begin = index === from ? '{"jobExecutionId":' : ',{"jobExecutionId":'
      text += begin + (firstExecutionId + at) + middle + fieldsOf(devices[at] as LaunchedDevice) + end
    }
    return text
  }
}

/** A joined text has its parts walked through each time it is written; this pays if that is often. */
function inOne(text: string, uses: number): string {
  return uses > devicesPerPiece ? Buffer.from(text).toString() : text
}

function deviceFields(device: LaunchedDevice): string {
  device.encoded ??= encodeFields(device)
  return device.encoded
}

function encodeFields({ deviceId, deviceName }: LaunchedDevice): string {
  return JSON.stringify({ deviceId, deviceName }).slice(1, -1)
}

function grown(bytes: Buffer, length: number, more: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.ceil(length + more * 1.1))
  bytes.copy(larger, 0, 0, length)
  return larger
}
