// Requests that are held for long: ?wait=, streams of events, output. They end when the client disconnects, and a few
// seconds after the key or the session they were made with is revoked, signed out or expired. Streams also end when its
// scopes or its restriction change: whoever opens them again sees what it may see by then.

import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasSameRights } from '../../domain/access/caller.ts'
import type { WaitLimit } from '../../domain/execution/wait-for-end.ts'
import { callerOf, type IdentifyDeps, identifyRequest } from '../access/authenticate.ts'

/** They end within five seconds; the look-up and what is being read take some of that. */
const checkEveryMs = 3000

export type HeldRequest = WaitLimit & {
  /** To be called before the answer to a wait: the caller may have lost its right to it meanwhile. */
  requireValid(): Promise<void>
  /** The same before each part of a stream. */
  isValid(): Promise<boolean>
}

/** Held for so many seconds at most; undefined: for as long as it takes. */
export function holdRequest(
  deps: IdentifyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  waitSeconds?: number,
): HeldRequest {
  const gone = new AbortController()
  const isStream = waitSeconds === undefined
  const readRefusal = () => refusalOf(deps, request, isStream)
  let refusal: ApiError | undefined
  let timer: NodeJS.Timeout | undefined
  const check = async () => {
    refusal = await readRefusal()
    if (refusal === undefined) schedule()
    else end()
  }
  const schedule = () => {
    if (!gone.signal.aborted) timer = setTimeout(check, checkEveryMs)
  }
  const end = () => {
    gone.abort()
    // What is already on its way cannot be answered with an error any more.
    if (reply.raw.headersSent) reply.raw.destroy()
  }
  // The response, not its socket: a kept-alive connection carries many responses. The client may have left already.
  if (reply.raw.destroyed) gone.abort()
  reply.raw.once('close', () => {
    clearTimeout(timer)
    gone.abort()
  })
  if (waitSeconds !== 0) schedule()
  return {
    waitMs: (waitSeconds ?? 0) * 1000,
    callerGone: gone.signal,
    async requireValid() {
      // Who did not wait was identified just now.
      if (waitSeconds !== 0) refusal ??= await readRefusal()
      if (refusal) throw refusal
    },
    async isValid() {
      refusal ??= await readRefusal()
      // Cut, so that nobody takes it for complete.
      if (refusal) end()
      return refusal === undefined
    },
  }
}

/** While the storage is away nobody loses a right: it is asked again. */
async function refusalOf(
  deps: IdentifyDeps,
  request: FastifyRequest,
  isStream: boolean,
): Promise<ApiError | undefined> {
  try {
    const caller = await identifyRequest(deps, request)
    // Nobody sees the code: a stream is cut.
    return isStream && !hasSameRights(caller, callerOf(request)) ? new ApiError('J-808') : undefined
  } catch (error) {
    return error instanceof ApiError ? error : undefined
  }
}
