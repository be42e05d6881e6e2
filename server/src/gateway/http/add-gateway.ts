// HTTP for devices: the data plane of AWS IoT Jobs, plus long polling and output. It is part of the owners' app, under a
// prefix of its own, with its own sign-in, body parser and error format.

import type { HTTPMethods } from 'fastify'
import { addEnroll } from './enroll.ts'
import { answerWithErrors } from './error-answer.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { methodNotAllowed } from './refusal.ts'
import { readBytes } from './request-body.ts'
import { addOperations } from './routes.ts'
import { signInDevices } from './sign-in-device.ts'

export function addHttpGateway(app: GatewayApp, deps: HttpGatewayDeps): void {
  app.register(
    async (gateway: GatewayApp) => {
      // Schemas only describe. What devices send is validated more leniently, by domain/execution/device-request.ts.
      gateway.setValidatorCompiler(() => () => true)
      answerWithErrors(gateway, deps.tell)
      signInDevices(gateway, deps)
      readBytes(gateway)
      const allowed = watchMethods(gateway)
      addOperations(gateway, deps)
      addEnroll(gateway, deps)
      refuseOtherMethods(gateway, allowed)
    },
    { prefix: '/things' },
  )
}

/** By path inside the prefix. */
type Allowed = Map<string, Set<HTTPMethods>>

function watchMethods(gateway: GatewayApp): Allowed {
  const allowed: Allowed = new Map()
  gateway.addHook('onRoute', ({ routePath, method }) => {
    const known = allowed.get(routePath) ?? new Set()
    allowed.set(routePath, known)
    for (const one of [method].flat()) known.add(one as HTTPMethods)
  })
  return allowed
}

const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function refuseOtherMethods(gateway: GatewayApp, allowed: Allowed): void {
  for (const [url, known] of [...allowed]) {
    const names = [...known]
    gateway.route({
      method: methods.filter((method) => !names.includes(method)),
      url,
      config: { isWrongMethod: true },
      schema: { hide: true },
      // Before the body is read.
      onRequest: async () => {
        throw methodNotAllowed(names)
      },
      handler: () => undefined, // never reached
    })
  }
}
