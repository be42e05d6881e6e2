// Devices and their credentials.

import {
  CountRequest,
  Device,
  DeviceContent,
  DeviceCount,
  DeviceCredential,
  DevicePage,
  DeviceParams,
  DeviceQuery,
} from '@jobcast/contract'
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
import { deviceTag } from '../../domain/device/device-tag.ts'
import { countDevices, readSelector } from '../../domain/selector/selector.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { etagHeader, expectedTags, IfMatchHeaders, quoted } from '../wire/if-match.ts'
import { toDevice } from '../wire/to-wire.ts'

const url = '/job/api/devices/:deviceId'

export function addDevices(app: App, deps: DeviceDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-312', 'J-908', 'J-912'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'putDevice',
      tags: ['devices'],
      summary: 'Create or replace a device',
      description: 'A deviceId has at most 128 characters and none of / + # ?.',
      params: DeviceParams,
      headers: IfMatchHeaders,
      body: DeviceContent,
      response: {
        200: { ...Device, description: 'Replaced', headers: etagHeader },
        201: { ...Device, description: 'Created', headers: etagHeader },
      },
    },
    handler: async (request, reply) => {
      const { created, value } = await putDevice(
        deps,
        callerOf(request),
        request.params.deviceId,
        request.body,
        expectedTags(request),
      )
      return reply
        .code(created ? 201 : 200)
        .header('etag', quoted(deviceTag(value)))
        .send(toDevice(value))
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-001'] },
    schema: {
      operationId: 'getDevice',
      tags: ['devices'],
      summary: 'Get a device',
      params: DeviceParams,
      response: { 200: { ...Device, headers: etagHeader } },
    },
    handler: async (request, reply) => {
      const device = await getDevice(deps, callerOf(request), request.params.deviceId)
      return reply.header('etag', quoted(deviceTag(device))).send(toDevice(device))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-001', 'J-312'] },
    schema: {
      operationId: 'deleteDevice',
      tags: ['devices'],
      summary: 'Delete a device',
      description:
        'Its unfinished executions are CANCELED, its credential is revoked and it is disconnected.',
      params: DeviceParams,
      headers: IfMatchHeaders,
      response: {
        204: noContent('Deleted'),
      },
    },
    handler: async (request, reply) => {
      await deleteDevice(deps, callerOf(request), request.params.deviceId, expectedTags(request))
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/devices',
    config: { scopes: ['READ'], refusals: ['J-309', 'J-503'] },
    schema: {
      operationId: 'listDevices',
      tags: ['devices'],
      summary: 'List devices, ordered by deviceId',
      description:
        'With `where` a page may have fewer items than `limit`, even none, before the last one: continue while there is a ' +
        '`nextCursor`.',
      querystring: DeviceQuery,
      response: { 200: DevicePage },
    },
    handler: async (request) => {
      const { tag, online, where } = request.query
      const caller = callerOf(request)
      const filter = {
        ...(tag !== undefined && { tag }),
        ...(online !== undefined && { online }),
        ...(where !== undefined && { where: await readSelector(deps, caller, where) }),
      }
      return toPage(await listDevices(deps, caller, filter, textSlice(request.query)), toDevice)
    },
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
      return toDevice(await getDevice(deps, callerOf(request), deviceId))
    },
  })
}
