// One caller: a keep-alive connection with one request in flight. It uses bare sockets and reads only the status and the
// length of a response, because on a machine with two cores the load takes CPU time from the server.

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { NextRequest } from './requests.ts'

type CallerOptions = {
  port: number
  next: NextRequest
  /** Over TLS 1.3; the certificate is not checked, which costs the server nothing. */
  hasTls?: boolean | undefined
  /** Called for each response; return false to end the connection. */
  onAnswer: (ms: number, bytes: number) => boolean
}

// A process reads responses one after the other, so all connections can share one buffer.
const readBuffer = Buffer.allocUnsafe(256 * 1024)
const headEnd = Buffer.from('\r\n\r\n')

/** Resolves once `onAnswer` returns false; rejects on the first response that is not a success. */
export function runCaller({ port, next, hasTls = false, onAnswer }: CallerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = 0
    let answerBytes = 0
    let missingBytes = 0
    let headSoFar = Buffer.alloc(0)

    const send = () => {
      begun = performance.now()
      socket.write(next())
    }
    const take = (seen: Buffer) => {
      answerBytes += seen.length
      if (missingBytes > 0) missingBytes -= seen.length
      else missingBytes = readHead(seen)
      if (missingBytes !== 0) return
      const bytes = answerBytes
      answerBytes = 0
      if (onAnswer(performance.now() - begun, bytes)) send()
      else {
        socket.destroy()
        resolve()
      }
    }
    /** Remaining bytes of the response; negative while the head is incomplete. */
    const readHead = (seen: Buffer): number => {
      const chunk = headSoFar.length > 0 ? Buffer.concat([headSoFar, seen]) : seen
      const end = chunk.indexOf(headEnd)
      if (end < 0) {
        headSoFar = Buffer.from(chunk)
        return -1
      }
      headSoFar = headSoFar.length > 0 ? Buffer.alloc(0) : headSoFar
      const head = chunk.toString('latin1', 0, end)
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (!head.startsWith('HTTP/1.1 20') || length === undefined) {
        throw new Error(`not a success: ${chunk.toString('latin1', 0, 1000)}`)
      }
      return end + headEnd.length + Number(length) - chunk.length
    }

    const fail = (error: unknown) => {
      socket.destroy()
      reject(error)
    }
    const onData = (seen: Buffer) => {
      try {
        take(seen)
      } catch (error) {
        fail(error)
      }
    }
    const callback = (size: number) => {
      onData(readBuffer.subarray(0, size))
      return true
    }
    const to = { port, host: '127.0.0.1', noDelay: true }
    const socket: Socket = hasTls
      ? connectTls({ ...to, minVersion: 'TLSv1.3', rejectUnauthorized: false }, send).on('data', onData)
      : connect({ ...to, onread: { buffer: readBuffer, callback } }, send)
    socket.on('error', fail)
    socket.on('end', () => fail(new Error('the server closed the connection')))
  })
}
