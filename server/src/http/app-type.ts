// The Fastify instance as our routes see it: typed by TypeBox schemas, knowing the caller.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { ErrorCode, Scope } from '@jobcast/contract'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Caller } from '../domain/caller.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** One of these is needed. */
    scopes?: [Scope, ...Scope[]]
    /** Under /job/api, and yet for whoever has no key. */
    isOpen?: boolean
    /** For a body of another type than JSON; J-905 unless said. */
    wrongTypeCode?: ErrorCode
  }
  interface FastifyRequest {
    caller: Caller | null
    /** For the log: one of ours, or the name by which a device knows it. */
    errorCode: string | undefined
  }
}
