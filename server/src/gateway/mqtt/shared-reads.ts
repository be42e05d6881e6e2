// All TCP connections are read into one buffer, one after the other. Node does that for clients (`onread`), but its server
// offers no way to it; so what its client sets on a socket is set here. Where Node has other names for it, reads come as
// `data` events.

import { Socket } from 'node:net'

type Fields = Record<PropertyKey, unknown> & { _handle?: { useUserBuffer?: (bytes: Buffer) => void } | null }

const bufferBytes = 64 * 1024
let shared: Buffer | undefined

const symbols = Object.getOwnPropertySymbols(new Socket())
const bufferField = symbols.find(({ description }) => description === 'kBuffer')
const callbackField = symbols.find(({ description }) => description === 'kBufferCb')

/**
 * `take` gets so many bytes at the beginning of a buffer that is overwritten when it returns. False: this socket cannot be
 * read so. Else a pause stops reading from the network at once. Only for sockets from which nothing was read.
 */
export function readShared(socket: Socket, take: (size: number, buffer: Buffer) => void): boolean {
  const fields = socket as unknown as Fields
  const handle = fields._handle
  if (bufferField === undefined || callbackField === undefined || !handle?.useUserBuffer) return false
  shared ??= Buffer.allocUnsafeSlow(bufferBytes)
  handle.useUserBuffer(shared)
  fields[bufferField] = shared
  fields[callbackField] = take
  return true
}
