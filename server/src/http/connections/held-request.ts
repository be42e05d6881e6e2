// Long requests: ?wait=, streams of events, output. They end when the client disconnects, and a few seconds after their key
// or session is revoked, signed out or expired. Streams also end when its scopes or restriction change: a client that
// reconnects gets what it may see then.

import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasSameRights } from '../../domain/access/caller.ts'
import type { WaitLimit } from '../../domain/execution/wait-for-end.ts'
import { callerOf, type IdentifyDeps, identifyRequest } from '../access/authenticate.ts'

/** Requests end within five seconds, which includes the lookup and a read in progress. */
const checkEveryMs = 3000

export type HeldRequest = WaitLimit & {
  /** Must be called before the response to a wait: the caller may have lost its access meanwhile. */
  requireValid(): Promise<void>
  /** Must be called before each part of a stream. */
  isValid(): Promise<boolean>
}

/** `waitSeconds`: the maximum; undefined for streams, which have none. */
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
    // After the headers were sent, the response cannot become an error.
    if (reply.raw.headersSent) reply.raw.destroy()
  }
  // Watches the response and not its socket, because a connection carries many responses. The client may have left already.
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
      // Without a wait, the caller was identified just now.
      if (waitSeconds !== 0) refusal ??= await readRefusal()
      if (refusal) throw refusal
    },
    async isValid() {
      refusal ??= await readRefusal()
      // The connection is cut, so that the stream does not look complete.
      if (refusal) end()
      return refusal === undefined
    },
  }
}

/** Storage errors do not end a request; the next check repeats the lookup. */
async function refusalOf(
  deps: IdentifyDeps,
  request: FastifyRequest,
  isStream: boolean,
): Promise<ApiError | undefined> {
  try {
    const caller = await identifyRequest(deps, request)
    // The code is never sent: streams are cut.
    return isStream && !hasSameRights(caller, callerOf(request)) ? new ApiError('J-808') : undefined
  } catch (error) {
    return error instanceof ApiError ? error : undefined
  }
}
