// GET /job/api/events: events as they happen, as server-sent events.

import { Readable } from 'node:stream'
import { EventQuery, JobcastEvent, mustBe, parseInstant } from '@jobcast/contract'
import Type from 'typebox'
import { toWireEvent } from '../../domain/event/event.ts'
import { type EventBatch, type FollowEventsDeps, followEvents } from '../../domain/event/follow-events.ts'
import type { Tell } from '../../observe/events.ts'
import { callerOf, type IdentifyDeps } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { countStream, type StreamDeps } from '../connections/count-stream.ts'
import { holdRequest } from '../connections/held-request.ts'
import { tellStreamErrors } from '../wire/stream-errors.ts'

const Stream = Type.Unsafe<Readable>({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema: JobcastEvent,
})

/** How long a client waits before it reconnects. */
const reconnectMs = 1000

export function addEvents(
  app: App,
  deps: FollowEventsDeps & IdentifyDeps & StreamDeps & { tell: Tell },
): void {
  app.route({
    method: 'GET',
    url: '/job/api/events',
    config: { scopes: ['READ'], refusals: ['J-306', 'J-912'] },
    schema: {
      operationId: 'followEvents',
      tags: ['events'],
      summary: 'Follow events of runs, executions and devices',
      description:
        'Server-sent events, in order, each with an id. After a disconnect, send the last id you received as ' +
        '`Last-Event-ID`, as every EventSource does: the stream resumes there, without gaps or duplicates. ' +
        'A block with an id and no data only reports the current position.',
      querystring: EventQuery,
      headers: Type.Object({
        'last-event-id': Type.Optional(
          Type.String({
            pattern: '^\\d{0,15}$',
            [mustBe]: 'an event id',
            description: 'Resume after this event',
          }),
        ),
      }),
      response: {
        200: {
          description: 'The stream. The data of each block is an Event as JSON',
          content: { 'text/event-stream': { schema: Stream } },
        },
      },
    },
    handler: async (request, reply) => {
      countStream(deps, request, reply)
      const { after, since, types, ...filter } = request.query
      const lastId = request.headers['last-event-id']
      const { callerGone, isValid } = holdRequest(deps, request, reply)
      const followed = await followEvents(deps, callerOf(request), {
        after: lastId ? Number(lastId) : after,
        since: since === undefined ? undefined : parseInstant(since),
        filter: { ...filter, ...(types !== undefined && { types: types.split(',') }) },
        ...{ callerGone, isValid },
      })
      const stream = Readable.from(toBlocks(followed), { objectMode: false })
      tellStreamErrors(stream, request, reply, deps.tell)
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no') // disables buffering in reverse proxies
        .send(stream)
    },
  })
}

async function* toBlocks(followed: AsyncIterable<EventBatch>): AsyncGenerator<string> {
  yield `retry: ${reconnectMs}\n\n`
  for await (const { events, upTo } of followed) {
    const blocks = events.map((event) => {
      const data = JSON.stringify(toWireEvent(event))
      return `id: ${event.eventId}\nevent: ${event.type}\ndata: ${data}\n\n`
    })
    // An id without data: an EventSource stores it without dispatching an event.
    yield `${blocks.join('')}id: ${upTo}\n\n`
  }
}
