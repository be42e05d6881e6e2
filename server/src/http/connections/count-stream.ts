// Streams count towards the quotas of their key and owner for as long as they are open.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StreamCounts } from '../../state/stream-counts.ts'
import { callerOf } from '../access/authenticate.ts'

export type StreamDeps = { streams: StreamCounts }

export function countStream({ streams }: StreamDeps, request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('close', streams.open(callerOf(request)))
}
