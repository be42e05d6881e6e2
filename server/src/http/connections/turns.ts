// Large requests take turns: between two of them the event loop serves other requests. A trigger of 10,000 devices
// takes about 10 ms, half for parsing and half for the response; eight such callers at once delayed /livez by more than
// 100 ms.

import { nextTurn } from '../../state/turns.ts'

const largeBytes = 64 * 1024
const largeDevices = 1000

/** Resolves when it is this request's turn; undefined if it is small enough to be parsed at once. */
export function turnToRead(bytes: number): Promise<void> | undefined {
  return bytes < largeBytes ? undefined : nextTurn()
}

export function turnToAnswer(devices: number): Promise<void> | undefined {
  return devices < largeDevices ? undefined : nextTurn()
}
