// Windows: when work may be offered to devices.

import {
  toInstant,
  type WindowOpening,
  WindowParams,
  WindowTimes,
  WindowTimesQuery,
  windows,
} from '@jobcast/contract'
import { toLocalText } from '@jobcast/contract/cron'
import {
  deleteWindow,
  getWindow,
  listOpenings,
  putWindow,
  type WindowDeps,
} from '../../domain/window/window.ts'
import type { Opening } from '../../domain/window/window-times.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { toWindow } from '../wire/to-wire.ts'
import { serveResource } from './serve-resource.ts'

export function addWindows(app: App, deps: WindowDeps): void {
  serveResource(app, windows, {
    put: (...put) => putWindow(deps, ...put),
    get: (...window) => getWindow(deps, ...window),
    list: ({ ownerNo }, slice) => deps.store.listWindows({ ownerNo, slice }),
    delete: (caller, windowName) => deleteWindow(deps, caller, windowName),
    toView: (window, _caller, keyNames) => toWindow(window, keyNames),
    makers: { of: ({ createdBy, updatedBy }) => [createdBy, updatedBy], deps },
  })

  app.route({
    method: 'GET',
    url: '/job/api/windows/:windowName/next',
    config: { scopes: ['READ'], refusals: ['J-311', 'J-507'] },
    schema: {
      operationId: 'listWindowTimes',
      tags: ['windows'],
      summary: 'List when a window is open',
      description: 'The current opening, if there is one, and the next ones.',
      params: WindowParams,
      querystring: WindowTimesQuery,
      response: { 200: WindowTimes },
    },
    handler: async (request) => {
      const { windowName } = request.params
      const { zone, openings } = await listOpenings(deps, callerOf(request), windowName, request.query)
      return { timeZone: zone, items: openings.map((opening) => toWindowOpening(zone, opening)) }
    },
  })
}

function toWindowOpening(zone: string, { from, until, offersUntil }: Opening): WindowOpening {
  return {
    at: toInstant(from),
    local: toLocalText(zone, from),
    offersUntil: toInstant(offersUntil),
    until: toInstant(until),
    localUntil: toLocalText(zone, until),
  }
}
