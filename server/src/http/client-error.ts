// What Node's parser refuses never becomes a request: one answer is written to the socket, then it is closed.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '@jobcast/contract'
import { endAndLinger } from './connections.ts'
import { errorBody } from './error-reply.ts'

// Whoever was answered may go on sending for a moment, and each piece is refused again.
const answered = new WeakSet<Socket>()

export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (answered.has(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const apiError = new ApiError(codeFor(error.code))
  const body = JSON.stringify(errorBody(apiError))
  answered.add(socket)
  endAndLinger(
    socket,
    `HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}\r\n` +
      'content-type: application/json; charset=utf-8\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  )
}

function codeFor(code: string | undefined): ErrorCode {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'J-906'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'J-903'
    default:
      return 'J-907'
  }
}
