// Uploads may take longer than other requests, as long as bytes arrive at a minimum rate. Node's limit for whole requests does
// not apply to them.

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from './once-closed.ts'
import { cutWhenSlow, leastBytesPerSecond } from './slow-transfers.ts'

const checkedEveryMs = 15_000

const uploading = new WeakSet<Socket>()

/** Applies until the response is closed. Only the sender is judged: storing what has arrived may take long. */
export function allowLongUpload({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { socket } = raw
  uploading.add(socket)
  let excused = 0
  const stopCheck = cutWhenSlow(socket, checkedEveryMs, ({ bytesRead }) => {
    const isOurTurn = raw.readableLength > 0 || raw.complete
    if (isOurTurn) excused += (leastBytesPerSecond * checkedEveryMs) / 1000
    return bytesRead + excused
  })
  raw.once('end', stopCheck)
  onceClosed(reply, () => {
    stopCheck()
    uploading.delete(socket)
  })
}

export function isUploading(socket: Socket): boolean {
  return uploading.has(socket)
}
