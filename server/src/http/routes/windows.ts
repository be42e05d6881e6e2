// Windows: when work may be offered to devices.

import {
  PageQuery,
  toInstant,
  Window,
  WindowContent,
  type WindowOpening,
  WindowPage,
  WindowParams,
  WindowTimes,
  WindowTimesQuery,
} from '@jobcast/contract'
import {
  deleteWindow,
  getWindow,
  listOpenings,
  putWindow,
  type WindowDeps,
} from '../../domain/window/window.ts'
import type { Opening } from '../../domain/window/window-times.ts'
import { toLocalText } from '../../domain/window/zone-time.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { toWindow } from '../wire/to-wire.ts'

const url = '/job/api/windows/:windowName'

export function addWindows(app: App, deps: WindowDeps): void {
  addWritingRoutes(app, deps)

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-311'] },
    schema: {
      operationId: 'getWindow',
      tags: ['windows'],
      summary: 'Get a window',
      params: WindowParams,
      response: { 200: Window },
    },
    handler: async (request) => toWindow(await getWindow(deps, callerOf(request), request.params.windowName)),
  })

  app.route({
    method: 'GET',
    url: `${url}/next`,
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

  app.route({
    method: 'GET',
    url: '/job/api/windows',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listWindows',
      tags: ['windows'],
      summary: 'List windows, ordered by name',
      querystring: PageQuery,
      response: { 200: WindowPage },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      return toPage(await deps.store.listWindows({ ownerNo, slice: textSlice(request.query) }), toWindow)
    },
  })
}

function addWritingRoutes(app: App, deps: WindowDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-507', 'J-912'] },
    schema: {
      operationId: 'putWindow',
      tags: ['windows'],
      summary: 'Create or replace a window',
      description:
        'Outside a window nothing is offered to devices; running executions continue. A change takes effect immediately, ' +
        'also for pending executions.',
      params: WindowParams,
      body: WindowContent,
      response: {
        200: { ...Window, description: 'Replaced' },
        201: { ...Window, description: 'Created' },
      },
    },
    handler: async (request, reply) => {
      const { windowName } = request.params
      const { created, value } = await putWindow(deps, callerOf(request), windowName, request.body)
      return reply.code(created ? 201 : 200).send(toWindow(value))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-311', 'J-315'] },
    schema: {
      operationId: 'deleteWindow',
      tags: ['windows'],
      summary: 'Delete a window',
      description: 'Rejected (J-315) while a job, a schedule or an unfinished run uses it.',
      params: WindowParams,
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      await deleteWindow(deps, callerOf(request), request.params.windowName)
      return reply.code(204).send(undefined)
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
