// Transfers hold a slot for as long as they take: those that take too long are cut.

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from './once-closed.ts'

/** Of each interval. */
const leastBytesPerSecond = 1024
/** The system takes much at once for a connection, and for a slow one nothing more for a while. */
const downloadsCheckedEveryMs = 120_000

/** Cuts the connection unless `bytesOf` grows. Returns what ends that. */
export function cutWhenSlow(
  socket: Socket,
  everyMs: number,
  bytesOf: (socket: Socket) => number,
): () => void {
  let before = bytesOf(socket)
  const timer = setInterval(() => {
    const bytes = bytesOf(socket)
    if (bytes - before < (leastBytesPerSecond * everyMs) / 1000) socket.destroy()
    before = bytes
  }, everyMs)
  return () => clearInterval(timer)
}

/** Until the answer is sent. */
export function cutSlowDownload({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  onceClosed(reply, cutWhenSlow(socket, downloadsCheckedEveryMs, sentBytes))
}

/** Without those that wait in this process. */
function sentBytes({ bytesWritten, writableLength }: Socket): number {
  return bytesWritten - writableLength
}
