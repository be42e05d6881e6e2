// 404 for whatever no route is for, before a body is read and after the key is judged.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import type { App } from './app-type.ts'

/** To be called after the hook that judges keys was added. */
export function refuseUnknownRoutes(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isUnknown = request.is404 || hasEmptyPart(request.params) || isTriggerInOtherCase(request)
    done(isUnknown ? new ApiError('J-901') : undefined)
  })
}

/** The router lets a parameter be empty: `/job/api/jobs/` would be the job without a name. */
function hasEmptyPart(params: unknown): boolean {
  for (const name in params as object) {
    if ((params as Record<string, string>)[name] === '') return true
  }
  return false
}

/** A job may be named Execute, so its path exists; but whoever posts there means the trigger. */
function isTriggerInOtherCase({ method, params }: FastifyRequest): boolean {
  const { jobName } = params as { jobName?: string }
  return method === 'POST' && jobName?.toLowerCase() === 'execute'
}

/**
 * The router answers a path that cannot be decoded (%zz, %ff) itself, without hooks, so without a look at
 * the key. Spelled like this the path is none of ours and takes the way of all others.
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
