// Response headers that restrict browsers and caches.

import type { App } from '../app-type.ts'

const oneYear = 'max-age=31536000'

/** Without TLS a browser ignores Strict-Transport-Security; a proxy that terminates TLS sets it itself. */
export function addSecurityHeaders(app: App, hasTls: boolean): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-content-type-options', 'nosniff')
    if (hasTls) reply.header('strict-transport-security', oneYear)
    // People enter keys on this page. The console sets these headers itself.
    if (isDocs(request.raw.url ?? '')) {
      reply.header('referrer-policy', 'no-referrer').header('cross-origin-opener-policy', 'same-origin')
    }
    // Only responses of the API: files of the console and of /docs are cached by name or validator.
    if (isPrivate(request.raw.url ?? '') && !reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'no-store')
    }
    done()
  })
}

function isPrivate(url: string): boolean {
  return url.startsWith('/job/api') || url.startsWith('/things/')
}

function isDocs(url: string): boolean {
  return /^\/docs(?:[/?]|$)/.test(url)
}
