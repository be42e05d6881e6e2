// Authenticates a hawkBit device: by its own token or certificate, or by a gateway token, an enrollment token for all devices
// with its prefix.

import type { FastifyRequest } from 'fastify'
import { signInByCertificate, signInByToken } from '../../../domain/access/sign-in.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { enrollDevice, gatewayClaim, openEnrollment } from '../../../domain/device/enroll-device.ts'
import { deviceText } from '../../../domain/device/ports/device-link.ts'
import { DeviceError } from '../../../domain/execution/device-error.ts'
import { closeWithoutCredential, subjectOf } from '../client-certificate.ts'
import type { GatewayApp } from '../gateway-app.ts'
import { tooManyRequests } from '../refusal.ts'
import { authorizationOf, limitFailedSignIns } from '../sign-in-device.ts'
import type { DdiDeps, DdiParams } from './ddi-deps.ts'
import { unauthorized } from './errors.ts'
import { Tenants } from './tenants.ts'

export function signInDdiDevices(gateway: GatewayApp, deps: DdiDeps): void {
  const tenants = new Tenants(deps)
  gateway.decorateRequest('device', null)
  closeWithoutCredential(gateway, deps)
  gateway.addHook('onRequest', async (request) => {
    const device = await signIn(deps, tenants, request)
    if (device === undefined) throw limitFailedSignIns(deps.limits, request, unauthorized())
    const rateLimit = deps.limits.take('device', deviceText(device))
    if (rateLimit) throw tooManyRequests(rateLimit)
    request.device = device
    deps.presence.seenByDdi(device)
  })
}

async function signIn(
  deps: DdiDeps,
  tenants: Tenants,
  request: FastifyRequest,
): Promise<DeviceKey | undefined> {
  const { tenant, deviceId } = request.params as DdiParams
  const subject = subjectOf(deps, request)
  if (subject) return ofTenant(tenants, tenant, deviceId, await signInByCertificate(deps, subject))
  const [, scheme, token] = /^(TargetToken|GatewayToken) +([^ ]+)$/i.exec(authorizationOf(request)) ?? []
  if (scheme === undefined || token === undefined) return undefined
  if (scheme.toLowerCase() === 'gatewaytoken') return byGateway(deps, tenants, request, token)
  return ofTenant(tenants, tenant, deviceId, await signInByToken(deps, token, deviceId))
}

async function ofTenant(
  tenants: Tenants,
  tenant: string,
  deviceId: string,
  device: DeviceKey | undefined,
): Promise<DeviceKey | undefined> {
  if (device === undefined || device.deviceId !== deviceId) return undefined
  if (device.ownerNo !== (await tenants.ownerNoOf(tenant))) return undefined
  return { ownerNo: device.ownerNo, deviceId }
}

/** Signs in devices that a gateway enrolled, with this enrollment or an earlier one. The first poll of a new device enrolls it. */
async function byGateway(
  deps: DdiDeps,
  tenants: Tenants,
  { params, method, routeOptions }: FastifyRequest,
  token: string,
): Promise<DeviceKey | undefined> {
  const { tenant, deviceId } = params as DdiParams
  const shown = await openEnrollment(deps, token)
  if (shown === undefined) return undefined
  const { ownerNo, deviceIdPrefix } = shown.enrollment
  if (deviceIdPrefix === null || !deviceId.startsWith(deviceIdPrefix)) return undefined
  if (ownerNo !== (await tenants.ownerNoOf(tenant))) return undefined
  const key = { ownerNo, deviceId }
  const found = await deps.store.findClaim(key)
  if (found?.hasCredential) return isGatewayClaim(found.claimHash) ? key : undefined
  const isPoll = method === 'GET' && routeOptions.url?.endsWith('/:deviceId')
  if (!isPoll) return undefined
  try {
    const enrolled = await enrollDevice(deps, shown, deviceId, { deviceName: undefined, claim: gatewayClaim })
    return enrolled.kind === 'enrolled' ? key : undefined
  } catch (error) {
    // Not a valid device id.
    if (error instanceof DeviceError) return undefined
    throw error
  }
}

function isGatewayClaim(claimHash: Uint8Array | null): boolean {
  return claimHash !== null && Buffer.compare(claimHash, gatewayClaim) === 0
}
