// Transfers occupy a slot until they end, so transfers that are too slow are cut.

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from './once-closed.ts'

/** The minimum average of each interval. */
export const leastBytesPerSecond = 1024
/** Long, because the kernel buffers much data of a connection at once and then takes no more for a while. */
const downloadsCheckedEveryMs = 120_000

/** Cuts the connection if `bytesOf` grows too slowly. Returns a function that stops this. */
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

/** Applies until the response is sent. Only the receiver is judged: reading from a bucket may take long. */
export function cutSlowDownload({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  let excused = 0
  const sentBytes = ({ bytesWritten, writableLength }: Socket) => {
    if (writableLength === 0) excused += (leastBytesPerSecond * downloadsCheckedEveryMs) / 1000
    // Excludes bytes that are buffered in this process.
    return bytesWritten - writableLength + excused
  }
  onceClosed(reply, cutWhenSlow(socket, downloadsCheckedEveryMs, sentBytes))
}
