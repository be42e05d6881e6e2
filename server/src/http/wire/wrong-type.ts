import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

/** The error for a body type that the route does not accept. */
export function wrongType({ method, route: config }: FastifyRequest): ApiError {
  const json = method === 'PATCH' ? 'application/merge-patch+json or application/json' : 'application/json'
  const other = config.takesLines ? 'application/x-ndjson or text/csv' : undefined
  const types = config.takesForm ? 'application/x-www-form-urlencoded' : (other ?? json)
  const code = config.wrongTypeCode ?? 'J-905'
  const wanted = `${types} in UTF-8, without Content-Encoding`
  return new ApiError(code, {
    ...(code === 'J-905' && { suffix: `send ${wanted}` }),
    detail: `The body must be ${wanted}.`,
  })
}
