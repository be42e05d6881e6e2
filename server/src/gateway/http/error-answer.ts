// Errors in the format of AWS IoT: the exception's name in the header x-amzn-errortype, a message in the body, and the
// state of the execution where it differs from what the device assumed.

import { ApiError, deviceErrors } from '@jobcast/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  CommitUnknown,
  StorageUnavailable,
  TooMuchWaiting,
} from '../../domain/common/ports/storage-errors.ts'
import { DeviceError } from '../../domain/execution/device-error.ts'
import type { Tell } from '../../observe/events.ts'
import { toExecutionState } from '../to-device.ts'
import type { GatewayApp } from './gateway-app.ts'
import { Refusal } from './refusal.ts'

export function answerWithErrors(gateway: GatewayApp, tell: Tell): void {
  // At most once a second: every request fails alike, and the log may be on the full disk.
  let loggedAt = Number.NEGATIVE_INFINITY
  const tellOfStorage = (error: unknown) => {
    if (performance.now() - loggedAt < 1000) return
    loggedAt = performance.now()
    tell({ kind: 'storage-unavailable', error })
  }
  gateway.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof StorageUnavailable) tellOfStorage(error)
    const refusal = toRefusal(error, request)
    if (refusal.status === 500) {
      tell({ kind: 'request-failed', requestId: request.id, route: request.routeOptions.url ?? '', error })
    }
    // Connection rules recognize their own refusals by this code.
    request.errorCode = error instanceof ApiError ? error.code : refusal.exception
    return answer(reply, refusal, error instanceof DeviceError ? error : undefined)
  })
  gateway.setNotFoundHandler((_request, reply) => answer(reply, notFound()))
  // AWS clients include it in their errors; it matches the requestId in our log.
  gateway.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-amzn-requestid', request.id)
    done()
  })
}

function answer(reply: FastifyReply, refusal: Refusal, deviceError?: DeviceError): FastifyReply {
  const executionState = deviceError?.execution && toExecutionState(deviceError.execution)
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .header('x-amzn-errortype', refusal.exception)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ message: refusal.message, executionState }))
}

function toRefusal(error: FastifyError, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof DeviceError) {
    const { status, exception } = deviceErrors[error.code]
    return new Refusal(status, exception, error.message)
  }
  if (error instanceof TooMuchWaiting) {
    return new Refusal(429, 'ThrottlingException', 'Too many requests in the queue.', { 'retry-after': '1' })
  }
  if (error instanceof StorageUnavailable) {
    const isOpen = error instanceof CommitUnknown
    const text = `Storage is not available.${isOpen ? ' The request may have taken effect.' : ''}`
    return new Refusal(503, 'ServiceUnavailableException', text, { 'retry-after': '5' })
  }
  // From the hooks of the whole app: unknown route, malformed request.
  if (error instanceof ApiError) {
    if (error.status === 404) return notFound()
    if (error.code === 'J-908' || error.code === 'J-911') {
      const text = error.details.detail ?? `${error.message}.`
      return new Refusal(429, 'ThrottlingException', text, { 'retry-after': '1' })
    }
    return new Refusal(error.status, 'InvalidRequestException', `${error.message}.`)
  }
  if (request.raw.errored === error) return invalid('The connection ended before the body did.')
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal(413, 'RequestEntityTooLargeException', 'The body is larger than 128 KiB.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('The length of the body differs from Content-Length.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalid('The Content-Type is malformed.')
    default:
      return new Refusal(500, 'InternalFailure', 'Internal error.')
  }
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'InvalidRequestException', message)
}

function notFound(): Refusal {
  return new Refusal(404, 'ResourceNotFoundException', 'Route not found.')
}
