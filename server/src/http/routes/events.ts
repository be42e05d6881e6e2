// GET /job/api/events: what happens, as server-sent events, while it does.

import { Readable } from 'node:stream'
import { EventQuery, JobcastEvent, parseInstant } from '@jobcast/contract'
import Type from 'typebox'
import { toWireEvent } from '../../domain/event.ts'
import { type FollowEventsDeps, followEvents, type ToldEvents } from '../../domain/follow-events.ts'
import type { Tell } from '../../observe/events.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { patienceOf } from '../patience.ts'
import { tellStreamErrors } from '../stream-errors.ts'

const Stream = Type.Unsafe<Readable>({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema: JobcastEvent,
})

/** Whoever loses the connection comes back after so long. */
const comeBackMs = 1000

export function addEvents(app: App, deps: FollowEventsDeps & { tell: Tell }): void {
  app.route({
    method: 'GET',
    url: '/job/api/events',
    config: { scopes: ['READ'], refusals: ['J-306'] },
    schema: {
      operationId: 'followEvents',
      tags: ['events'],
      summary: 'Follow what happens to runs, executions and devices',
      description:
        'Server-sent events, in order, each with an id. Whoever was cut off gives the last id it has seen as ' +
        '`Last-Event-ID`, as every EventSource does, and gets what it missed: nothing is left out or told twice. ' +
        'A block with an id and no data says how far the stream has come.',
      querystring: EventQuery,
      headers: Type.Object({
        'last-event-id': Type.Optional(
          Type.String({ pattern: '^\\d{0,15}$', description: 'Begin behind this event' }),
        ),
      }),
      response: {
        200: {
          description: 'The stream. The data of each event is an Event as JSON',
          content: { 'text/event-stream': { schema: Stream } },
        },
      },
    },
    handler: async (request, reply) => {
      const { after, since, types, ...filter } = request.query
      const lastId = request.headers['last-event-id']
      const told = await followEvents(deps, callerOf(request), {
        after: lastId ? Number(lastId) : after,
        since: since === undefined ? undefined : parseInstant(since),
        filter: { ...filter, ...(types !== undefined && { types: types.split(',') }) },
        callerGone: patienceOf(reply, 0).callerGone,
      })
      const stream = Readable.from(spelled(told), { objectMode: false })
      tellStreamErrors(stream, request, reply, deps.tell)
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no') // a proxy before us hands each event on at once
        .send(stream)
    },
  })
}

async function* spelled(told: AsyncIterable<ToldEvents>): AsyncGenerator<string> {
  yield `retry: ${comeBackMs}\n\n`
  for await (const { events, upTo } of told) {
    const blocks = events.map((event) => {
      const data = JSON.stringify(toWireEvent(event))
      return `id: ${event.eventId}\nevent: ${event.type}\ndata: ${data}\n\n`
    })
    // An id without data: kept by whoever listens, and handed to nobody.
    yield `${blocks.join('')}id: ${upTo}\n\n`
  }
}
