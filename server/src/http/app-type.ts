// The type of our Fastify instance: typed by TypeBox schemas, with the caller on each request.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { ErrorCode, Scope } from '@jobcast/contract'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Caller } from '../domain/access/caller.ts'
import type { DeviceRule } from '../domain/access/device-operations.ts'
import type { RestrictedRule } from '../domain/access/restricted-operations.ts'
import type { HeldBody } from '../limits/body-budget.ts'
import type { WantedFields } from './wire/pick-fields.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The caller needs one of these. */
    scopes?: [Scope, ...Scope[]]
    /** The caller also needs this one. */
    alsoScope?: Scope
    /** Under /job/api, but needs no key. */
    isOpen?: boolean
    /** Errors in addition to those implied by its scopes and inputs. */
    refusals?: ErrorCode[]
    /** Answers 405 to the methods that a path does not have. */
    isWrongMethod?: true
    /** For a body that is not JSON; default J-905. */
    wrongTypeCode?: ErrorCode
    /** Its transaction compares the key of the caller, so the key is not looked up before (cached-key.ts). */
    comparesKey?: true
    /** The body is NDJSON and not parsed as a whole: a stream, or bytes. */
    takesLines?: true
    /** The body is a form. */
    takesForm?: true
    /** The body is a stream of any type. */
    takesFile?: true
    /** How it applies a restriction to jobs (restricted-operations.ts); undefined: such callers are refused. */
    restricted?: RestrictedRule
    /** How it applies a restriction to devices (device-operations.ts); undefined: such callers are refused. */
    restrictedToDevices?: DeviceRule
    /** The only fields that are read from a large body. */
    largeBody?: WantedFields
  }
  interface FastifyRequest {
    caller: Caller | null
    /** `routeOptions.config`, read once, because Fastify creates a new object on each access. Without url: no route matches. */
    route: FastifyContextConfig & { url?: string }
    /** The body, counted until it is parsed. */
    heldBody: HeldBody | null
    /** For the log: an error code, or the exception's name on device routes. */
    errorCode: string | undefined
    /** For the log: the run that the call has created. */
    runId: number | undefined
  }
}
