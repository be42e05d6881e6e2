// Answers 405 with Allow to methods that a path of the gateway does not support.

import type { HTTPMethods } from 'fastify'
import type { GatewayApp } from './gateway-app.ts'
import { methodNotAllowed } from './refusal.ts'

/** Keyed by the path inside the prefix. */
type Allowed = Map<string, Set<HTTPMethods>>

/** Must be called before the first route is added. */
export function watchMethods(gateway: GatewayApp): Allowed {
  const allowed: Allowed = new Map()
  gateway.addHook('onRoute', ({ routePath, method }) => {
    const known = allowed.get(routePath) ?? new Set()
    allowed.set(routePath, known)
    for (const one of [method].flat()) known.add(one as HTTPMethods)
  })
  return allowed
}

const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Must be called after the last route was added. */
export function refuseOtherMethods(gateway: GatewayApp, allowed: Allowed): void {
  for (const [url, known] of [...allowed]) {
    const names = [...known]
    gateway.route({
      method: methods.filter((method) => !names.includes(method)),
      url,
      config: { isWrongMethod: true },
      schema: { hide: true },
      // Before the body is read.
      onRequest: async () => {
        throw methodNotAllowed(names)
      },
      handler: () => undefined, // never reached
    })
  }
}
