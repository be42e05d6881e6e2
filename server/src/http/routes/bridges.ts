// Bridges to brokers of the user.

import { BridgePage, PageQuery } from '@jobcast/contract'
import { type ListBridgesDeps, listBridges } from '../../domain/bridge/list-bridges.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { toBridge } from '../wire/bridge-to-wire.ts'
import { textSlice, toPage } from '../wire/cursor.ts'

export function addBridges(app: App, deps: ListBridgesDeps): void {
  app.route({
    method: 'GET',
    url: '/job/api/bridges',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listBridges',
      tags: ['fleet'],
      summary: 'List the bridges to your own MQTT brokers, and whether they work',
      description:
        'Those whose devices belong to your owner, by name. They are defined in the settings of the service. Every node reports all of them.',
      querystring: PageQuery,
      response: { 200: BridgePage },
    },
    handler: async (request) =>
      toPage(await listBridges(deps, callerOf(request), textSlice(request.query)), toBridge),
  })
}
