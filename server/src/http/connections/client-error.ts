// Input rejected by Node's HTTP parser never becomes a request: one response is written to the socket, then it is closed.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '@jobcast/contract'
import type { Tell } from '../../observe/events.ts'
import { errorBody } from '../wire/error-reply.ts'
import { closeAfterAnswer, endAndLinger } from './connections.ts'
import { isUploading } from './long-uploads.ts'

// A client may keep sending after the response; each chunk would be rejected again.
const answered = new WeakSet<Socket>()

export function answerClientErrors(tell: Tell) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (answered.has(socket)) return
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    answered.add(socket)
    const apiError = new ApiError(codeFor(error.code))
    tell({ kind: 'connection-refused', code: apiError.code, address: socket.remoteAddress })
    // Invalid input after a complete request: only the request is answered.
    if (!closeAfterAnswer(socket)) endAndLinger(socket, asResponse(apiError))
  }
}

function asResponse(error: ApiError): string {
  const body = JSON.stringify(errorBody(error))
  return (
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
    'content-type: application/json; charset=utf-8\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\n` +
    `connection: close\r\n\r\n${body}`
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
