// All TCP connections are read into one buffer, one after the other. Node does that for clients (`onread`), but its server
// offers no way to it; so what its client sets on a socket is set here. Where Node has other names for it, reads come as
// `data` events.

import { Socket } from 'node:net'

type Handle = {
  reading: boolean
  useUserBuffer(bytes: Buffer): void
  /** An error, or 0. */
  readStart(): number
  readStop(): number
}
type Fields = Record<symbol, unknown> & { _handle?: Partial<Handle> | null }

const bufferBytes = 64 * 1024
let shared: Buffer | undefined

const symbols = Object.getOwnPropertySymbols(new Socket())
const bufferField = symbols.find(({ description }) => description === 'kBuffer')
const callbackField = symbols.find(({ description }) => description === 'kBufferCb')

/**
 * `take`, as a method of the socket, gets so many bytes at the beginning of a buffer that is overwritten when it returns. False: this socket cannot be
 * read so. Only for sockets from which nothing was read.
 */
export function readShared<T extends Socket>(
  socket: Socket,
  take: (this: T, size: number, buffer: Buffer) => void,
): boolean {
  const fields = socket as unknown as Fields
  const handle = fields._handle
  if (bufferField === undefined || callbackField === undefined || !isKnown(handle)) return false
  shared ??= Buffer.allocUnsafeSlow(bufferBytes)
  handle.useUserBuffer(shared)
  fields[bufferField] = shared
  fields[callbackField] = take
  // A fan-out pauses ten thousand. Those of a stream take four times as long: they also emit events and read ahead.
  socket.pause = pause
  socket.resume = resume
  return true
}

function isKnown(handle: Partial<Handle> | null | undefined): handle is Handle {
  return Boolean(handle?.useUserBuffer && handle.readStart && handle.readStop && 'reading' in handle)
}

function pause(this: Socket): Socket {
  return setReading(this, false)
}

function resume(this: Socket): Socket {
  return setReading(this, true)
}

function setReading(socket: Socket, reading: boolean): Socket {
  const handle = (socket as unknown as { _handle: Handle | null })._handle
  if (handle === null || handle.reading === reading) return socket
  handle.reading = reading
  const error = reading ? handle.readStart() : handle.readStop()
  if (error !== 0) socket.destroy()
  return socket
}
