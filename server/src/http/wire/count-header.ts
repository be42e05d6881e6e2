// Counts how often a header occurs: in `headers`, repeated ones are already joined or dropped.

import type { FastifyRequest } from 'fastify'

/** `name` in lower case. */
export function countHeader({ raw: { rawHeaders } }: FastifyRequest, name: string): number {
  let count = 0
  // rawHeaders alternates names and values.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string
    if (given.length === name.length && given.toLowerCase() === name) count++
  }
  return count
}
