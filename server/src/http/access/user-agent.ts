import type { FastifyRequest } from 'fastify'
import { mayHoldSecret } from '../../domain/access/secret-text.ts'

const maxUserAgent = 200

export function userAgentOf({ headers }: FastifyRequest): string | undefined {
  return shownUserAgent(headers['user-agent'])
}

/** As it is logged and stored: cut short, and not at all if it may hold a secret. */
export function shownUserAgent(text: string | undefined): string | undefined {
  return text === undefined || mayHoldSecret(text) ? undefined : text.slice(0, maxUserAgent)
}
