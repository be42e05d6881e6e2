// The answer to a trigger, written piece by piece: JSON.stringify would want an object for each of 10,000
// devices and spell the same names anew each time.

import { toLaunchedAt } from '@jobcast/contract'
import type { LaunchedRun } from '../domain/store.ts'

type NamedDevice = LaunchedRun['devices'][number]

// Longer texts are turned into bytes as they grow: V8 would copy one large text twice, to measure and to write it.
const devicesPerPiece = 32

// A device is answered again and again; its two fields are spelled once. Gone when the device is.
const spelled = new WeakMap<NamedDevice, string>()

export function triggeredJson(run: LaunchedRun): string | Buffer {
  const total = run.devices.length
  if (total <= devicesPerPiece) return `[${spellPiece(run, 0, total)}]`

  let bytes: Buffer = Buffer.allocUnsafe(0)
  let length = 0
  for (let from = 0; from < total; from += devicesPerPiece) {
    const to = Math.min(from + devicesPerPiece, total)
    const piece = (from === 0 ? '[' : ',') + spellPiece(run, from, to) + (to === total ? ']' : '')
    // No character takes more than three bytes for each of its UTF-16 units.
    if (length + 3 * piece.length > bytes.length) {
      bytes = grown(bytes, length, (total - from) * (piece.length / (to - from)) + 3 * piece.length)
    }
    length += bytes.write(piece, length)
  }
  return bytes.subarray(0, length)
}

function spellPiece(
  { jobName, launchedAt, firstExecutionId, devices }: LaunchedRun,
  from: number,
  to: number,
): string {
  const middle = `,"jobName":${JSON.stringify(jobName)},`
  const end = `,"execState":"PENDING","launchedAt":"${toLaunchedAt(launchedAt)}"}`
  let text = ''
  for (let index = from; index < to; index++) {
    text += index === from ? '{"jobExecutionId":' : ',{"jobExecutionId":'
    text += firstExecutionId + index + middle + deviceFields(devices[index] as NamedDevice) + end
  }
  return text
}

function deviceFields(device: NamedDevice): string {
  let fields = spelled.get(device)
  if (fields === undefined) {
    fields = `"deviceId":${JSON.stringify(device.deviceId)},"deviceName":${JSON.stringify(device.deviceName)}`
    spelled.set(device, fields)
  }
  return fields
}

function grown(bytes: Buffer, length: number, more: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.ceil(length + more * 1.1))
  bytes.copy(larger, 0, 0, length)
  return larger
}
