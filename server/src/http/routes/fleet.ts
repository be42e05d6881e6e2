// Fleet overview.

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
      summary: 'Get pending and running executions, results of the last hour and the history of the last day',
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
      summary: 'List devices with their latest execution, in a compact form',
      description: 'Up to 10,000 devices per page.',
      querystring: FleetDeviceQuery,
      response: {
        200: FleetDevicePage,
      },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      return toPage(
        await deps.store.listFleetDevices({ ownerNo, slice: textSlice(request.query) }),
        toFleetDevice,
      )
    },
  })
}
