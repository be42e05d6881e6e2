// Uploads that may take longer than other requests: as long as enough of them arrives. Node's limit for whole requests does not
// count for them.

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from './once-closed.ts'
import { cutWhenSlow } from './slow-transfers.ts'

const checkedEveryMs = 15_000

const uploading = new WeakSet<Socket>()

/** Its end, whatever it is, ends this as well. Once all of it has arrived it is for the disk to take its time. */
export function allowLongUpload({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { socket } = raw
  uploading.add(socket)
  const stopCheck = cutWhenSlow(socket, checkedEveryMs, ({ bytesRead }) => bytesRead)
  raw.once('end', stopCheck)
  onceClosed(reply, () => {
    stopCheck()
    uploading.delete(socket)
  })
}

export function isUploading(socket: Socket): boolean {
  return uploading.has(socket)
}
