// A device exchanges an enrollment token for a token of its own.

import type { FastifyRequest } from 'fastify'
import { enrollDevice, openEnrollment, type ShownEnrollment } from '../../domain/device/enroll-device.ts'
import { parseEnroll } from '../../domain/execution/device-request.ts'
import { describeEnroll } from './described.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { conflict, unauthorized } from './refusal.ts'
import { fieldsOf, maxBodyBytes } from './request-body.ts'
import { bearerToken, limitFailedSignIns } from './sign-in-device.ts'

export function addEnroll(gateway: GatewayApp, deps: HttpGatewayDeps): void {
  gateway.decorateRequest('enrollment', null)
  gateway.route({
    method: 'POST',
    url: '/:thing/enroll',
    config: { enrolls: true },
    bodyLimit: maxBodyBytes,
    schema: describeEnroll,
    // Authenticates before the body is read, like every sign-in.
    onRequest: async (request) => {
      const token = bearerToken(request)
      const shown = token === undefined ? undefined : await openEnrollment(deps, token)
      if (shown === undefined) throw limitFailedSignIns(deps.limits, request, unauthorized())
      request.enrollment = shown
    },
    handler: async (request, reply) => {
      const { thing: deviceId } = request.params
      const enrolled = await enrollDevice(deps, shownBy(request), deviceId, parseEnroll(fieldsOf(request)))
      switch (enrolled.kind) {
        case 'enrolled':
          return reply.code(201).send({ deviceId, deviceToken: enrolled.deviceToken })
        case 'not-open':
          throw unauthorized()
        case 'taken':
          throw conflict()
      }
    },
  })
}

function shownBy({ enrollment }: FastifyRequest): ShownEnrollment {
  if (enrollment === null) throw unauthorized()
  return enrollment
}
