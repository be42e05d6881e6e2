// Devices and their credentials.

import {
  CountRequest,
  Device,
  DeviceCount,
  DeviceCredential,
  DeviceParams,
  DevicePatch,
  DevicesChange,
  DevicesChanged,
  DevicesChangeQuery,
  devices,
} from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { reachOf } from '../../domain/access/device-reach.ts'
import { readKeyNames } from '../../domain/access/key-names.ts'
import { changeDevices } from '../../domain/device/change-devices.ts'
import {
  type DeviceDeps,
  deleteDevice,
  getDevice,
  listDevices,
  putDevice,
} from '../../domain/device/device.ts'
import {
  allowDeviceCertificate,
  createDeviceCredential,
  revokeDeviceCredential,
} from '../../domain/device/device-credential.ts'
import { deviceTag } from '../../domain/device/own-fields.ts'
import { patchDevice } from '../../domain/device/patch-device.ts'
import type { StoredDevice } from '../../domain/device/ports/devices.ts'
import { countDevices, readSelector } from '../../domain/selector/selector.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { etagHeader, expectedTags, IfMatchHeaders, quoted } from '../wire/if-match.ts'
import { toDevice } from '../wire/to-wire.ts'
import { serveResource } from './serve-resource.ts'

const url = '/job/api/devices/:deviceId'

export function addDevices(app: App, deps: DeviceDeps): void {
  app.route({
    method: 'PATCH',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-001', 'J-311', 'J-312', 'J-908'] },
    schema: {
      operationId: 'patchDevice',
      tags: ['devices'],
      summary: 'Change a device in part',
      description:
        'A merge patch (RFC 7396): fields and attributes that are not given keep their value, null resets or removes ' +
        'them. Content-Type is application/merge-patch+json or application/json.',
      params: DeviceParams,
      headers: IfMatchHeaders,
      body: DevicePatch,
      response: { 200: { ...Device, headers: etagHeader } },
    },
    handler: async (request, reply) => {
      const { params, body } = request
      const { value } = await patchDevice(
        deps,
        callerOf(request),
        params.deviceId,
        body,
        expectedTags(request),
      )
      const shown = await answerDevice(deps, callerOf(request), value)
      return reply.header('etag', quoted(deviceTag(value))).send(shown)
    },
  })

  serveResource(app, devices, {
    put: (...put) => putDevice(deps, ...put),
    get: (...device) => getDevice(deps, ...device),
    list: async (caller, slice, { tag, online, where }) => {
      const filter = {
        ...(tag !== undefined && { tag }),
        ...(online !== undefined && { online }),
      }
      const chosen = where === undefined ? reachOf(caller) : await readSelector(deps, caller, where)
      return listDevices(deps, caller, { ...filter, ...(chosen && { where: chosen }) }, slice)
    },
    delete: (caller, deviceId, before) => deleteDevice(deps, caller, deviceId, before),
    toView: (device: StoredDevice, _caller, keyNames) => toDevice(device, keyNames),
    tagOf: deviceTag,
    makers: { of: ({ credentialCreatedBy }: StoredDevice) => credentialCreatedBy, deps },
  })

  app.route({
    method: 'POST',
    url: '/job/api/devices/count',
    config: { scopes: ['READ'], refusals: ['J-309', 'J-503'] },
    schema: {
      operationId: 'countDevices',
      tags: ['devices'],
      summary: 'Count the devices that a selector matches',
      body: CountRequest,
      response: { 200: DeviceCount },
    },
    handler: (request) => countDevices(deps, callerOf(request), request.body.where),
  })

  app.route({
    method: 'POST',
    url: '/job/api/devices/change',
    config: { scopes: ['MANAGE'], refusals: ['J-001', 'J-309', 'J-503', 'J-908'] },
    schema: {
      operationId: 'changeDevices',
      tags: ['devices'],
      summary: 'Change tags and attributes of many devices',
      description:
        'Of up to 1,000,000 devices that a selector matches, or of those listed. They are changed in batches: the call can ' +
        'be repeated if it was interrupted. Each device that changes has its event, as with PUT.',
      querystring: DevicesChangeQuery,
      body: DevicesChange,
      response: { 200: DevicesChanged },
    },
    handler: (request) => changeDevices(deps, callerOf(request), request.body, request.query),
  })

  app.route({
    method: 'POST',
    url: `${url}/credential`,
    config: { scopes: ['MANAGE'], refusals: ['J-001'] },
    schema: {
      operationId: 'createDeviceCredential',
      tags: ['devices'],
      summary: 'Create a new token for a device',
      description:
        'The token is shown only once. It replaces the previous one; a device connected with that one is disconnected.',
      params: DeviceParams,
      response: {
        201: DeviceCredential,
      },
    },
    handler: async (request, reply) => {
      const { deviceId } = request.params
      const deviceToken = await createDeviceCredential(deps, callerOf(request), deviceId)
      return reply.code(201).send({ deviceId, deviceToken })
    },
  })

  app.route({
    method: 'DELETE',
    url: `${url}/credential`,
    config: { scopes: ['MANAGE'], refusals: ['J-001'] },
    schema: {
      operationId: 'revokeDeviceCredential',
      tags: ['devices'],
      summary: 'Revoke the token of a device',
      description:
        'The device is disconnected immediately and cannot sign in until it gets a new token. Its certificates are rejected ' +
        'from then on, even after it gets a new token, until `allow-certificate`.',
      params: DeviceParams,
      response: {
        204: noContent('Revoked'),
      },
    },
    handler: async (request, reply) => {
      await revokeDeviceCredential(deps, callerOf(request), request.params.deviceId)
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/allow-certificate`,
    config: { scopes: ['MANAGE'], refusals: ['J-001'] },
    schema: {
      operationId: 'allowDeviceCertificate',
      tags: ['devices'],
      summary: 'Accept client certificates of a device again',
      description:
        'Undoes the effect of revoking the credential on its certificates. A certificate on the revocation list ' +
        'remains refused.',
      params: DeviceParams,
      response: { 200: Device },
    },
    handler: async (request) => {
      const { deviceId } = request.params
      await allowDeviceCertificate(deps, callerOf(request), deviceId)
      return answerDevice(deps, callerOf(request), await getDevice(deps, callerOf(request), deviceId))
    },
  })
}

async function answerDevice(deps: DeviceDeps, caller: Caller, device: StoredDevice): Promise<Device> {
  const makers = [device.credentialCreatedBy]
  return toDevice(device, await readKeyNames(deps.store, caller.ownerNo, deps.now(), makers))
}
