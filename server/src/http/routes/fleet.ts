// The fleet at a glance, for whoever draws it.

import { Fleet, FleetDevicePage, FleetDeviceQuery } from '@jobcast/contract'
import { type FleetDeps, readFleet } from '../../domain/read-fleet.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { textSlice, toPage } from '../cursor.ts'
import { toFleet, toFleetDevice } from '../to-wire.ts'

export function addFleet(app: App, deps: FleetDeps): void {
  app.route({
    method: 'GET',
    url: '/job/api/fleet',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getFleet',
      tags: ['fleet'],
      summary: 'Read how much waits and runs, what failed in the last hour, and the course of the last day',
      response: { 200: Fleet },
    },
    handler: async (request) => toFleet(await readFleet(deps, callerOf(request))),
  })

  app.route({
    method: 'GET',
    url: '/job/api/fleet/devices',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listFleetDevices',
      tags: ['fleet'],
      summary: 'List devices with their last execution, in little space',
      description: 'Ten thousand a page at most, so that a fleet can be drawn with one cell a device.',
      querystring: FleetDeviceQuery,
      response: {
        200: FleetDevicePage,
      },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      return toPage(await deps.store.listFleetDevices(ownerNo, textSlice(request.query)), toFleetDevice)
    },
  })
}
