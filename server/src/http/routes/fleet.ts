// Fleet overview.

import { Fleet, FleetDevicePage, FleetDeviceQuery, FleetGroupQuery, FleetGroups } from '@jobcast/contract'
import { listFleet } from '../../domain/device/list-fleet.ts'
import { type FleetDeps, readFleet } from '../../domain/device/read-fleet.ts'
import type { FleetGroupsReader } from '../../state/fleet-groups.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { toFleetGroups } from '../wire/stats-to-wire.ts'
import { toFleet, toFleetDevice } from '../wire/to-wire.ts'

export type FleetRouteDeps = FleetDeps & { fleetGroups: FleetGroupsReader }

export function addFleet(app: App, deps: FleetRouteDeps): void {
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
    url: '/job/api/fleet/groups',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getFleetGroups',
      tags: ['fleet'],
      summary: 'Count devices by tag, group or attribute, and by state, for any number of devices',
      description:
        'The response is cached for up to twenty times as long as counting takes: `asOf` is the time of the count.',
      querystring: FleetGroupQuery,
      response: { 200: FleetGroups },
    },
    handler: async (request) => {
      const found = await deps.fleetGroups.read(callerOf(request), request.query.by)
      return toFleetGroups(found, request.query)
    },
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
      return toPage(await listFleet(deps.store, callerOf(request), textSlice(request.query)), toFleetDevice)
    },
  })
}
