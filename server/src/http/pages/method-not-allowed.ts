// 405 with Allow, for every existing path and every method it does not have. Routes under their own prefix
// (the docs page, device routes) handle this themselves.

import { ApiError } from '@jobcast/contract'
import type { HTTPMethods } from 'fastify'
import type { App } from '../app-type.ts'

const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Must be called before the first route is added; `finish` after the last. */
export function watchRoutes(app: App): { finish: () => void } {
  const allowed = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method, prefix }) => {
    if (prefix !== '') return
    const known = allowed.get(url) ?? new Set()
    allowed.set(url, known)
    for (const one of [method].flat()) known.add(one)
  })
  return {
    finish() {
      for (const [url, known] of [...allowed]) {
        const allow = [...known].sort().join(', ')
        app.route({
          method: methods.filter((method) => !known.has(method)),
          url,
          config: { isWrongMethod: true },
          schema: { hide: true },
          // Before the body is read.
          onRequest: async (_request, reply) => {
            reply.header('allow', allow)
            throw new ApiError('J-902')
          },
          handler: () => undefined, // never reached
        })
      }
    },
  }
}
