// Error responses: exactly three fields, or RFC 9457 for clients that accept application/problem+json.

import { ApiError, type ErrorBody, type ProblemBody } from '@jobcast/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  BucketUnavailable,
  CommitUnknown,
  StorageUnavailable,
  TooMuchWaiting,
} from '../../domain/common/ports/storage-errors.ts'
import { rateLimitHeaders } from '../../limits/rate-limit-headers.ts'
import type { Tell } from '../../observe/events.ts'
import type { App } from '../app-type.ts'
import { sendNotFoundPage, wantsPage } from '../pages/not-found-page.ts'
import { toValidationError } from './validation-error.ts'
import { wrongType } from './wrong-type.ts'

/** Logs errors that the caller did not cause. */
type TellFailure = (answer: ApiError, cause: unknown, request: FastifyRequest) => void

function failureTeller(tell: Tell): TellFailure {
  // Logged at most once a second: every request fails in the same way, and the log may be on the full disk.
  let loggedAt = Number.NEGATIVE_INFINITY
  return ({ code }, error, { id: requestId, route: { url: route = '' } }) => {
    if (code === 'J-900') tell({ kind: 'request-failed', requestId, route, error })
    if (code !== 'J-909' || performance.now() - loggedAt < 1000) return
    loggedAt = performance.now()
    tell({ kind: 'storage-unavailable', error })
  }
}

/** `lookUpCaller`: looks up a cached key, because the error for an invalid key takes precedence over all others. */
export function replyWithErrors(
  app: App,
  tell: Tell,
  lookUpCaller: (request: FastifyRequest) => Promise<void>,
): void {
  const tellFailure = failureTeller(tell)
  app.decorateRequest('errorCode', undefined)
  const answer = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const apiError = toApiError(error, request)
    tellFailure(apiError, error, request)
    return sendError(request, reply, apiError)
  }
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (request.caller?.keyAsOf === undefined) return answer(error, request, reply)
    const mayBeVoid = (failure: FastifyError) => {
      const isFailure = !(failure instanceof ApiError) && toApiError(error, request).status >= 500
      return answer(isFailure ? error : failure, request, reply)
    }
    return lookUpCaller(request).then(() => answer(error, request, reply), mayBeVoid)
  })
  app.setNotFoundHandler((request, reply) => sendError(request, reply, new ApiError('J-901')))
}

function toApiError(error: FastifyError, request: FastifyRequest): ApiError {
  const answer = answerTo(error)
  if (answer.code !== 'J-900') return answer
  if (request.raw.errored === error) {
    return new ApiError('J-907', { detail: 'The connection ended before the body did.' })
  }
  if (error.validation) return toValidationError(error.validation, error.validationContext)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('J-904')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('J-500', { detail: 'The length of the body differs from Content-Length.' })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongType(request)
    default:
      return isMissingFile(error) ? new ApiError('J-901') : answer
  }
}

/** Maps errors of services and the store. */
function answerTo(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof TooMuchWaiting) return new ApiError('J-908', { retryAfterSeconds: 1 })
  if (error instanceof CommitUnknown) {
    const suffix = 'the request may have taken effect; repeat a trigger only with the same Idempotency-Key'
    return new ApiError('J-909', { suffix, retryAfterSeconds: 5 })
  }
  if (error instanceof BucketUnavailable) {
    return new ApiError('J-909', { suffix: error.sentence, retryAfterSeconds: 5 })
  }
  if (error instanceof StorageUnavailable) return new ApiError('J-909', { retryAfterSeconds: 5 })
  return new ApiError('J-900')
}

/** Errors of the plugin that serves /docs: no such file, or a path outside its folder. */
function isMissingFile({ statusCode }: FastifyError): boolean {
  return statusCode === 403 || statusCode === 404
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  request.errorCode = error.code
  const { rateLimit, challenge } = error.details
  reply.headers(retryHeaders(error))
  if (rateLimit) reply.headers(rateLimitHeaders(rateLimit))
  if (challenge) reply.header('www-authenticate', challenge)
  reply.code(error.status)
  if (request.headers.accept?.includes('application/problem+json')) {
    return reply
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify(problemBody(error, request.id)))
  }
  if (error.code === 'J-901' && wantsPage(request)) return sendNotFoundPage(reply)
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error)))
}

function retryHeaders({ details: { retryAfterSeconds } }: ApiError): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
}

export function errorBody({ code, message, status }: ApiError): ErrorBody {
  return { code, message, status }
}

function problemBody({ code, message, status, details }: ApiError, requestId: string): ProblemBody {
  const { detail, field, position, deviceIds } = details
  return {
    type: 'about:blank',
    title: message,
    message,
    status,
    ...(detail !== undefined && { detail }),
    code,
    ...(field !== undefined && { field }),
    ...(position !== undefined && { position }),
    ...(deviceIds !== undefined && { deviceIds: [...deviceIds] }),
    requestId,
  }
}
