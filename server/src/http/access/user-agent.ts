import type { FastifyRequest } from 'fastify'
import { mayHoldSecret } from '../../domain/access/secret-text.ts'

const maxUserAgent = 200

/** For logs and storage: truncated, and undefined if it may contain a secret. */
export function userAgentOf({ headers }: FastifyRequest): string | undefined {
  const text = headers['user-agent']
  return text === undefined || mayHoldSecret(text) ? undefined : text.slice(0, maxUserAgent)
}
