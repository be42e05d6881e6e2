// Device token or certificate -> device, before the body is read. API keys are not accepted here.

import type { FastifyRequest } from 'fastify'
import { signInByCertificate, signInByToken } from '../../domain/access/sign-in.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import { addressGroup } from '../../limits/address-group.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { closeWithoutCredential, subjectOf } from './client-certificate.ts'
import type { GatewayApp, HttpGatewayDeps } from './gateway-app.ts'
import { forbidden, Refusal, tooManyRequests, unauthorized } from './refusal.ts'

export function signInDevices(gateway: GatewayApp, deps: HttpGatewayDeps): void {
  gateway.decorateRequest('device', null)
  closeWithoutCredential(gateway, deps)
  gateway.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.enrolls) return
    const device = await signIn(deps, request).catch((error) => {
      throw limitFailedSignIns(deps.limits, request, error)
    })
    const rateLimit = deps.limits.take('device', deviceText(device))
    if (rateLimit) throw tooManyRequests(rateLimit)
    request.device = device
    deps.presence.seenByHttp(device)
  })
}

/** Throws 401 or 403. Checked again during a long poll, which must not outlive its token or certificate. */
export async function signIn(deps: HttpGatewayDeps, request: FastifyRequest): Promise<DeviceKey> {
  const subject = subjectOf(deps, request)
  const token = bearerToken(request) ?? ''
  const device = await (subject ? signInByCertificate(deps, subject) : signInByToken(deps, token))
  if (device === undefined) throw unauthorized()
  const { thing } = request.params as { thing?: string }
  if (thing !== device.deviceId) throw forbidden(subject ? 'certificate' : 'token')
  return device
}

/** Only failed sign-ins are limited by address, so valid tokens are not refused because of others behind the same address. */
export function limitFailedSignIns(limits: RateLimits, { ip }: FastifyRequest, failure: unknown): unknown {
  if (!(failure instanceof Refusal)) return failure
  const rateLimit = limits.take('sign-in', addressGroup(ip))
  return rateLimit ? tooManyRequests(rateLimit) : failure
}

export function deviceOf(request: FastifyRequest): DeviceKey {
  if (request.device === null) throw unauthorized()
  return request.device
}

export function bearerToken(request: FastifyRequest): string | undefined {
  return /^Bearer +([^ ]+)$/i.exec(authorizationOf(request))?.[1]
}

/** Empty if there is none, or more than one: Node keeps the first, and a proxy in front may have checked the second. */
export function authorizationOf({ headers, raw }: FastifyRequest): string {
  const isOne = raw.rawHeaders.filter(isAuthorization).length === 1
  return isOne ? (headers.authorization ?? '') : ''
}

/** rawHeaders alternates names and values. */
function isAuthorization(text: string, index: number): boolean {
  return index % 2 === 0 && text.toLowerCase() === 'authorization'
}
