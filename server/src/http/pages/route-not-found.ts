// 404 for unknown routes, before the body is read and after the key was checked.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app-type.ts'

/** Must be called after the hook that checks keys was added. */
export function refuseUnknownRoutes(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isUnknown = request.is404 || hasEmptyPart(request.params) || isTriggerInOtherCase(request)
    done(isUnknown ? new ApiError('J-901') : undefined)
  })
}

/** The router accepts empty parameters: `/job/api/jobs/` would be the job with an empty name. */
function hasEmptyPart(params: unknown): boolean {
  for (const name in params as object) {
    if ((params as Record<string, string>)[name] === '') return true
  }
  return false
}

/** A job may be named Execute, so the path exists; but a POST to it is a misspelled trigger. */
function isTriggerInOtherCase({ method, params }: FastifyRequest): boolean {
  const { jobName } = params as { jobName?: string }
  return method === 'POST' && jobName?.toLowerCase() === 'execute'
}

/**
 * The router answers a path that cannot be decoded (%zz, %ff) itself, without hooks, so without checking the key.
 * Rewritten like this it is an ordinary unknown path.
 */
export function asRoutable({ url = '/' }: { url?: string | undefined }): string {
  if (!url.includes('%')) return url
  try {
    decodeURI(url.split('?', 1)[0] as string)
    return url
  } catch {
    return url.replaceAll('%', '//')
  }
}
