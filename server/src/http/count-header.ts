// How often a header was given: `headers` has already joined or dropped what came twice.

import type { FastifyRequest } from 'fastify'

/** `name` in lower case. */
export function countHeader({ raw: { rawHeaders } }: FastifyRequest, name: string): number {
  let count = 0
  // Names and values in turn.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string
    if (given.length === name.length && given.toLowerCase() === name) count++
  }
  return count
}
