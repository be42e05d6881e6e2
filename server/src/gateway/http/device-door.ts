// The HTTP door for devices: the data plane of AWS IoT Jobs, long poll and output beside it. It lives in the owners'
// app under a prefix of its own, and has its own sign-in, its own way to read bodies and to spell errors.

import type { HTTPMethods } from 'fastify'
import type { DoorApp, DoorDeps } from './door-app.ts'
import { addEnroll } from './enroll.ts'
import { answerWithErrors } from './error-answer.ts'
import { methodNotAllowed } from './refusal.ts'
import { readBytes } from './request-body.ts'
import { addOperations } from './routes.ts'
import { signInDevices } from './sign-in-device.ts'

export function addDeviceDoor(app: DoorApp, deps: DoorDeps): void {
  app.register(
    async (door: DoorApp) => {
      // Schemas are here for the description; what devices send is judged more leniently, by domain/device-request.ts.
      door.setValidatorCompiler(() => () => true)
      answerWithErrors(door, deps.tell)
      signInDevices(door, deps)
      readBytes(door)
      const allowed = watchMethods(door)
      addOperations(door, deps)
      addEnroll(door, deps)
      refuseOtherMethods(door, allowed)
    },
    { prefix: '/things' },
  )
}

/** By path inside the prefix. */
type Allowed = Map<string, Set<HTTPMethods>>

function watchMethods(door: DoorApp): Allowed {
  const allowed: Allowed = new Map()
  door.addHook('onRoute', ({ routePath, method }) => {
    const known = allowed.get(routePath) ?? new Set()
    allowed.set(routePath, known)
    for (const one of [method].flat()) known.add(one as HTTPMethods)
  })
  return allowed
}

const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function refuseOtherMethods(door: DoorApp, allowed: Allowed): void {
  for (const [url, known] of [...allowed]) {
    const names = [...known]
    door.route({
      method: methods.filter((method) => !names.includes(method)),
      url,
      schema: { hide: true },
      // Before the body is read: no body makes it a better one.
      onRequest: async () => {
        throw methodNotAllowed(names)
      },
      handler: () => undefined, // never reached
    })
  }
}
