// HTTP for devices: the data plane of AWS IoT Jobs, plus long polling and output. It is part of the owners' app, under a
// prefix of its own, with its own sign-in, body parser and error format.

import { addEnroll } from './enroll.ts'
import { answerWithErrors } from './error-answer.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { refuseOtherMethods, watchMethods } from './other-methods.ts'
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
