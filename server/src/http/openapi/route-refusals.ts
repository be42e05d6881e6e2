// The errors that a route can return, for its `response` in the OpenAPI document. Errors implied by its scopes and inputs
// are added here; a route lists only its own codes, in `config.refusals`.

import { ErrorBody, type ErrorCode, errorCatalogue, ProblemBody } from '@jobcast/contract'
import type { RouteOptions } from 'fastify'
import type { App } from '../app-type.ts'

/** Must be called before the first route is added. */
export function describeRefusals(app: App): void {
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (schema === undefined || schema.hide || route.prefix !== '') return
    const codes = [...(route.config?.refusals ?? []), ...impliedCodes(route)]
    schema.response = { ...(schema.response as object), ...errorResponses(codes) }
  })
}

function impliedCodes({ url, config = {}, schema = {} }: RouteOptions): ErrorCode[] {
  if (!url.startsWith('/job/api/')) return []
  const codes: ErrorCode[] = ['J-909', 'J-911']
  if (!config.isOpen) codes.push('J-802', 'J-803')
  if (config.scopes) codes.push('J-804')
  if (!config.isOpen && !(config.restricted && config.restrictedToDevices)) codes.push('J-814')
  if (schema.body || schema.params || schema.querystring || schema.headers) codes.push('J-500')
  if (schema.body) codes.push('J-904', 'J-908', config.wrongTypeCode ?? 'J-905')
  return codes
}

function errorResponses(codes: ErrorCode[]): Record<number, object> {
  const distinct = [...new Set(codes)].sort()
  const byStatus = Map.groupBy(distinct, (code) => errorCatalogue[code].status)
  return Object.fromEntries(
    Array.from(byStatus, ([status, group]) => {
      const lines = group.map((code) => `${code}: ${errorCatalogue[code].message}`)
      return [status, { description: lines.join('. '), content: errorContent(group[0] as ErrorCode) }]
    }),
  )
}

function errorContent(code: ErrorCode): object {
  const { status, message } = errorCatalogue[code]
  return {
    'application/json': { schema: ErrorBody, example: { code, message, status } },
    'application/problem+json': { schema: ProblemBody },
  }
}
