// ETag of responses, If-Match and If-None-Match of requests.

import { mustBe } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Expectation } from '../../domain/common/entity-tag.ts'

export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      pattern: '^(?:\\*|[ -~]{1,1000})$',
      [mustBe]: '* or entity tags in quotes, separated by commas',
      description: 'Only if its ETag is one of these, or with `*` if it exists; otherwise J-312',
    }),
  ),
})

export const IfNoneMatchHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      pattern: '^\\*$',
      [mustBe]: '*',
      description: 'With `*`: only if there is none yet; else J-312',
    }),
  ),
})

export const etagHeader = {
  etag: {
    type: 'string',
    description: 'For If-Match: changes with the content that can be put; for a job, its version',
  },
}

/** A weak tag never matches (RFC 9110, 13.1.1). */
export function expectedTags({ headers }: Pick<FastifyRequest, 'headers'>): Expectation {
  const given = headers['if-match']
  if (given === undefined) return {}
  const tags = given.split(',').map((each) => each.trim())
  return { expected: tags.map((tag) => (tag === '*' ? tag : (/^"([^"]*)"$/.exec(tag)?.[1] ?? ''))) }
}

/** The precondition of a put. If-Match and If-None-Match cannot be combined. */
export function expectedBefore({ headers }: Pick<FastifyRequest, 'headers'>): Expectation {
  const isNone = headers['if-none-match'] !== undefined
  if (isNone && headers['if-match'] !== undefined) return { expected: [] }
  return isNone ? { expected: 'nothing' } : expectedTags({ headers })
}

export function quoted(tag: string): string {
  return `"${tag}"`
}
