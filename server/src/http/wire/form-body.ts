// Form bodies, only for the token exchange (RFC 8693).

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import { wrongType } from './wrong-type.ts'

export const formType = 'application/x-www-form-urlencoded'
const maxFields = 50

type Done = (error: Error | null, body?: unknown) => void

export function readForm(request: FastifyRequest, body: Buffer, done: Done): void {
  try {
    if (!request.route.takesForm || request.headers['content-encoding'] !== undefined)
      throw wrongType(request)
    done(null, parseForm(body.toString('utf8')))
  } catch (error) {
    done(error as Error)
  }
}

/** Repeated fields are refused (RFC 6749, 3.2); empty ones count as missing. */
function parseForm(text: string): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw new ApiError('J-500', { detail: `The form has the field ${name.slice(0, 50)} twice.` })
    if (fields.size === maxFields) throw new ApiError('J-500', { detail: 'The form has too many fields.' })
    if (value !== '') fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
