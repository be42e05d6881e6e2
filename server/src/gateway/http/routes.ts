// The operations of a device, one route each.

import type { DeviceOperation } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { waitForPending } from '../../domain/execution/wait-for-pending.ts'
import { serveOperation } from '../serve-operation.ts'
import {
  describeAttributes,
  describeDescribe,
  describeGetPending,
  describeOutput,
  describeStartNext,
  describeUpdate,
} from './described.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { badQuery, methodNotAllowed } from './refusal.ts'
import { fieldsOf, maxBodyBytes, outputFieldsOf } from './request-body.ts'
import { deviceOf, signIn } from './sign-in-device.ts'

export function addOperations(gateway: GatewayApp, deps: HttpGatewayDeps): void {
  const serve = async (
    request: FastifyRequest,
    reply: FastifyReply,
    operation: DeviceOperation,
    fields: Record<string, unknown>,
  ) => {
    const { json, gap, shown, seen } = await serveOperation(
      deps,
      deviceOf(request),
      operation,
      fields,
      'text',
    )
    for (const { jobExecutionId, notified } of shown) {
      if (!notified) deps.deliveries.notified(jobExecutionId)
    }
    const execution = seen && 'next' in seen ? seen.next : shown[0]
    if (operation.name !== 'get' && execution?.traceParent) reply.header('traceparent', execution.traceParent)
    if (gap) {
      request.errorCode = 'OffsetMismatchException'
      reply.code(409).header('x-amzn-errortype', request.errorCode)
    }
    return reply.header('content-type', 'application/json; charset=utf-8').send(json)
  }

  gateway.route({
    method: 'GET',
    url: '/:thing/jobs',
    schema: describeGetPending,
    handler: async (request, reply) => {
      const waitMs = waitMsOf(request)
      if (waitMs > 0) {
        const waitLimit = { waitMs, callerGone: goneSignal(reply) }
        await waitForPending(deps, deviceOf(request), waitLimit, () => signIn(deps, request))
      }
      return serve(request, reply, { name: 'get' }, {})
    },
  })

  gateway.route({
    method: 'GET',
    url: '/:thing/jobs/:jobId',
    schema: describeDescribe,
    handler: (request, reply) => {
      const { executionNumber, includeJobDocument } = request.query as Record<string, unknown>
      const operation = { name: 'describe', jobId: jobIdOf(request) } as const
      return serve(request, reply, operation, { executionNumber, includeJobDocument })
    },
  })

  // A parameter, although only $next is valid: the router does not decode %24next.
  gateway.route({
    method: 'PUT',
    url: '/:thing/jobs/:jobId',
    bodyLimit: maxBodyBytes,
    schema: describeStartNext,
    handler: (request, reply) => {
      if (jobIdOf(request) !== '$next') throw methodNotAllowed(['GET', 'HEAD', 'POST'])
      return serve(request, reply, { name: 'start-next' }, fieldsOf(request))
    },
  })

  gateway.route({
    method: 'POST',
    url: '/:thing/jobs/:jobId',
    bodyLimit: maxBodyBytes,
    schema: describeUpdate,
    handler: (request, reply) =>
      serve(request, reply, { name: 'update', jobId: jobIdOf(request) }, fieldsOf(request)),
  })

  gateway.route({
    method: 'PUT',
    url: '/:thing/attributes',
    bodyLimit: maxBodyBytes,
    schema: describeAttributes,
    handler: (request, reply) => serve(request, reply, { name: 'attributes' }, fieldsOf(request)),
  })

  gateway.route({
    method: 'POST',
    url: '/:thing/jobs/:jobId/output',
    bodyLimit: maxBodyBytes,
    schema: describeOutput,
    handler: (request, reply) =>
      serve(request, reply, { name: 'output', jobId: jobIdOf(request) }, outputFieldsOf(request)),
  })
}

function jobIdOf({ params }: FastifyRequest): string {
  return (params as { jobId: string }).jobId
}

const longestWaitSeconds = 60

function waitMsOf({ query }: FastifyRequest): number {
  const { wait = '0' } = query as { wait?: unknown }
  const seconds = typeof wait === 'string' && /^\d{1,2}$/.test(wait) ? Number(wait) : Number.NaN
  if (!(seconds <= longestWaitSeconds)) throw badQuery(`wait must be from 0 to ${longestWaitSeconds}.`)
  return seconds * 1000
}

/** The client has disconnected. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
