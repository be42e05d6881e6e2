// Device token -> device, before the body is read. API keys are not accepted here.

import type { FastifyRequest } from 'fastify'
import { signInByToken } from '../../domain/sign-in.ts'
import type { DeviceKey } from '../../domain/store.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { forbidden, unauthorized } from './refusal.ts'

export function signInDevices(gateway: GatewayApp, deps: HttpGatewayDeps): void {
  gateway.decorateRequest('device', null)
  gateway.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.enrolls) return
    const device = await signIn(deps, request)
    request.device = device
    deps.presence.seenByHttp(device)
  })
}

/** Throws 401 or 403. Checked again during a long poll, which must not outlive its token. */
export async function signIn(deps: HttpGatewayDeps, request: FastifyRequest): Promise<DeviceKey> {
  const token = bearerToken(request)
  const device = token === undefined ? undefined : await signInByToken(deps, token)
  if (device === undefined) throw unauthorized()
  if ((request.params as { thing?: string }).thing !== device.deviceId) throw forbidden()
  return device
}

export function deviceOf(request: FastifyRequest): DeviceKey {
  if (request.device === null) throw unauthorized()
  return request.device
}

export function bearerToken({ headers, raw }: FastifyRequest): string | undefined {
  // Node keeps the first of two headers; a proxy in front may have checked the second.
  const isOne = raw.rawHeaders.filter(isAuthorization).length === 1
  return isOne ? /^Bearer +([^ ]+)$/i.exec(headers.authorization ?? '')?.[1] : undefined
}

/** rawHeaders alternates names and values. */
function isAuthorization(text: string, index: number): boolean {
  return index % 2 === 0 && text.toLowerCase() === 'authorization'
}
