// hawkBit's Direct Device Integration (DDI), for devices with a hawkBit client: SWUpdate, rauc-hawkbit-updater, Zephyr. A translation
// layer: an action is an execution, and feedback takes the path of every other report. docs/ddi.md is for users.
//
// Read next: sign-in.ts, who a device is; poll.ts, what it finds; deployment.ts, what it installs; feedback.ts, what it reports.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerWithErrors } from '../error-answer.ts'
import type { GatewayApp } from '../gateway-app.ts'
import { refuseOtherMethods, watchMethods } from '../other-methods.ts'
import { fieldsOf, maxBodyBytes, readBytes } from '../request-body.ts'
import { deviceOf } from '../sign-in-device.ts'
import { takeConfigData } from './config-data.ts'
import type { DdiDeps, DdiParams } from './ddi-deps.ts'
import { readCancel, readDeployment, readInstalled } from './deployment.ts'
import { asDdiError } from './errors.ts'
import { takeCancelFeedback, takeFeedback } from './feedback.ts'
import { poll } from './poll.ts'
import { signInDdiDevices } from './sign-in.ts'

const device = '/:deviceId'

export function addDdi(app: GatewayApp, deps: DdiDeps): void {
  app.register(
    async (gateway: GatewayApp) => {
      gateway.setValidatorCompiler(() => () => true)
      answerWithErrors(gateway, deps.tell)
      signInDdiDevices(gateway, deps)
      readBytes(gateway)
      const allowed = watchMethods(gateway)
      addRoutes(gateway, deps)
      refuseOtherMethods(gateway, allowed)
    },
    { prefix: '/:tenant/controller/v1' },
  )
}

function addRoutes(gateway: GatewayApp, deps: DdiDeps): void {
  // hawkBit documents these routes, so they are not in the OpenAPI document.
  const add = (
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    serve: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ) =>
    gateway.route({
      ...{ method, url, bodyLimit: maxBodyBytes, schema: { hide: true } },
      handler: async (request, reply) => {
        reply.header('cache-control', 'private, no-cache')
        const answer = await serve(request, reply).catch((error: unknown) => {
          throw asDdiError(error)
        })
        if (reply.sent) return reply
        if (answer === undefined) return reply.send()
        return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer))
      },
    })

  add('GET', device, (request, reply) => poll(deps, request, reply))
  add('PUT', `${device}/configData`, async (request) =>
    takeConfigData(deps, deviceOf(request), fieldsOf(request)),
  )
  add('GET', `${device}/deploymentBase/:id`, (request) => readDeployment(deps, askedOf(request)))
  add('POST', `${device}/deploymentBase/:id/feedback`, async (request) =>
    takeFeedback(deps, deviceOf(request), idOf(request), fieldsOf(request)),
  )
  add('GET', `${device}/cancelAction/:id`, (request) => readCancel(deps, deviceOf(request), idOf(request)))
  add('POST', `${device}/cancelAction/:id/feedback`, async (request) =>
    takeCancelFeedback(deps, deviceOf(request), idOf(request), fieldsOf(request)),
  )
  add('GET', `${device}/installedBase/:id`, (request) => readInstalled(deps, askedOf(request)))
}

function askedOf(request: FastifyRequest) {
  const { tenant } = request.params as DdiParams
  return { device: deviceOf(request), tenant, jobId: idOf(request) }
}

function idOf({ params }: FastifyRequest): string {
  return (params as DdiParams).id ?? ''
}
