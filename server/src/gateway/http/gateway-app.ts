// The Fastify instance as device routes see it: the owners' app, with the signed-in device on each request.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { SignInDeps } from '../../domain/access/sign-in.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { EnrollDeps, ShownEnrollment } from '../../domain/device/enroll-device.ts'
import type { PendingDeps } from '../../domain/execution/wait-for-pending.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import type { Tell } from '../../observe/events.ts'
import type { Deliveries } from '../../state/deliveries.ts'
import type { ListenerTls } from '../certificates/listener-tls.ts'
import type { GatewayDeps } from '../serve-operation.ts'

export type GatewayApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type HttpGatewayDeps = GatewayDeps &
  SignInDeps &
  EnrollDeps &
  PendingDeps & {
    tell: Tell
    deliveries: Pick<Deliveries, 'notified'>
    limits: RateLimits
    tls?: ListenerTls | undefined
  }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The device has no token yet: it signs in with an enrollment token. */
    enrolls?: true
  }
  interface FastifyRequest {
    device: DeviceKey | null
    enrollment: ShownEnrollment | null
  }
}
