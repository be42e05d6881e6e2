// The Fastify instance as our routes see it: typed by TypeBox schemas, with the caller on each request.

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
    /** And this one besides. */
    alsoScope?: Scope
    /** Under /job/api, but needs no key. */
    isOpen?: boolean
    /** Errors of its own, besides those its scopes and inputs imply. */
    refusals?: ErrorCode[]
    /** Answers 405 to the methods that a path does not have. */
    isWrongMethod?: true
    /** For a body that is not JSON; default J-905. */
    wrongTypeCode?: ErrorCode
    /** What it writes compares the key of its caller, which need not be looked up before (recalled-caller.ts). */
    comparesKey?: true
    /** NDJSON, which is not parsed as a whole: the body is a stream, or bytes. */
    takesLines?: true
    /** A form, and nothing else. */
    takesForm?: true
    /** Any content, which is a stream. */
    takesFile?: true
    /** How it applies the restriction of its caller (restricted-operations.ts); undefined: it is refused. */
    restricted?: RestrictedRule
    /** The same for a restriction to devices (device-operations.ts). */
    restrictedToDevices?: DeviceRule
    /** Of a large body only these fields are read. */
    largeBody?: WantedFields
  }
  interface FastifyRequest {
    caller: Caller | null
    /** `routeOptions.config`, read once: Fastify makes a new object of all options each time. Without url: there is none. */
    route: FastifyContextConfig & { url?: string }
    /** Its body counts until it is parsed. */
    heldBody: HeldBody | null
    /** For the log: an error code, or the exception's name on device routes. */
    errorCode: string | undefined
    /** For the log: the run that the call has created. */
    runId: number | undefined
  }
}
