// Who a device of hawkBit is: by its own token, or by the token of an enrollment that stands for all devices with its prefix.

import type { FastifyRequest } from 'fastify'
import { signInByToken } from '../../../domain/access/sign-in.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { enrollDevice, gatewayClaim, openEnrollment } from '../../../domain/device/enroll-device.ts'
import { deviceText } from '../../../domain/device/ports/device-link.ts'
import { DeviceError } from '../../../domain/execution/device-error.ts'
import type { GatewayApp } from '../gateway-app.ts'
import { tooManyRequests } from '../refusal.ts'
import { authorizationOf, limitFailedSignIns } from '../sign-in-device.ts'
import type { DdiDeps, DdiParams } from './ddi-deps.ts'
import { unauthorized } from './errors.ts'
import { Tenants } from './tenants.ts'

export function signInDdiDevices(gateway: GatewayApp, deps: DdiDeps): void {
  const tenants = new Tenants(deps)
  gateway.decorateRequest('device', null)
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
  const [, scheme, token] = /^(TargetToken|GatewayToken) +([^ ]+)$/i.exec(authorizationOf(request)) ?? []
  if (scheme === undefined || token === undefined) return undefined
  const { tenant, deviceId } = request.params as DdiParams
  if (scheme.toLowerCase() === 'gatewaytoken') return byGateway(deps, tenants, request, token)
  const device = await signInByToken(deps, token, deviceId)
  if (device === undefined || device.ownerNo !== (await tenants.ownerNoOf(tenant))) return undefined
  return { ownerNo: device.ownerNo, deviceId }
}

/** For the devices that a gateway has made, with this enrollment or an earlier one; on its first poll, a new device. */
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
    // It cannot be the id of a device.
    if (error instanceof DeviceError) return undefined
    throw error
  }
}

function isGatewayClaim(claimHash: Uint8Array | null): boolean {
  return claimHash !== null && Buffer.compare(claimHash, gatewayClaim) === 0
}
