// Writes to a TCP connection without Node's stream, which takes a fifth of the time of a short write. The handle below the
// stream is asked as the stream asks it; what the system does not take at once waits there, as it does with a stream. Where
// Node asks in another way, and while the stream has something to send, `write` is used. Tried with Node 24.22.

import { Socket } from 'node:net'

type Handle = {
  /** Bytes that the system did not take yet. */
  readonly writeQueueSize: number
  /** 0, or an error; or what is under way. */
  writeLatin1String(request: null, text: string): number | Waiting
}
type Waiting = {
  handle: Handle
  socket: Socket
  oncomplete: (this: Waiting, status: number) => void
  /** Not null if it was completed before anybody could listen. */
  writeStatus: number | null
}
type Fields = { _handle?: Partial<Handle> | null }

const isKnownNode = asksWithNull()

/** A method of a socket. Undefined: use `write`. Else how many bytes wait; when they are sent, the socket drains. */
export type WriteNow = (this: Socket, text: string) => number | undefined

/** Undefined: this socket cannot be written so. */
export function directWrites(socket: Socket): WriteNow | undefined {
  const handle = (socket as unknown as Fields)._handle
  return isKnownNode && isKnown(handle) ? writeNow : undefined
}

function isKnown(handle: Partial<Handle> | null | undefined): boolean {
  return Boolean(handle?.writeLatin1String && typeof handle.writeQueueSize === 'number')
}

function writeNow(this: Socket, text: string): number | undefined {
  const handle = (this as unknown as { _handle: Handle | null })._handle
  if (handle === null || !this.writable || this.writableLength > 0 || this.writableCorked > 0)
    return undefined
  // While it is about to drain, that would be taken for the end of this write.
  if (this.writableNeedDrain || handle.writeQueueSize > 0) return undefined
  const result = handle.writeLatin1String(null, text)
  if (result === 0) return 0
  if (typeof result === 'number') {
    this.destroy()
    return 0
  }
  result.handle = handle
  result.socket = this
  result.oncomplete = completed
  const waiting = handle.writeQueueSize
  // Nobody will say when it is sent.
  if (waiting === 0 || result.writeStatus !== null) this.destroy()
  return waiting
}

function completed(this: Waiting, status: number): void {
  if (status < 0) this.socket.destroy()
  else this.socket.emit('drain')
}

/** A socket is made to write to nowhere, to see what it would say. */
function asksWithNull(): boolean {
  let asked: unknown
  const nowhere = {
    readStart: () => 0,
    readStop: () => 0,
    close: () => undefined,
    writeLatin1String(request: unknown) {
      asked = request
      return 0
    },
  }
  try {
    const socket = new Socket({ handle: nowhere } as never)
    socket.on('error', () => undefined)
    socket.write('.', 'latin1')
    socket.destroy()
  } catch {
    return false
  }
  return asked === null
}
