// What Node's parser refuses never becomes a request: one answer is written to the socket, then it is closed.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '@jobcast/contract'
import { errorBody } from './error-reply.ts'

export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const apiError = new ApiError(codeFor(error.code))
  const body = JSON.stringify(errorBody(apiError))
  socket.end(
    `HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}\r\n` +
      'content-type: application/json; charset=utf-8\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
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
