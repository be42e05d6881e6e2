// What a device wrote while it worked, as it wrote it: bytes, not JSON, for a terminal or a browser.

import { Readable } from 'node:stream'
import { ExecutionParams, OutputQuery } from '@jobcast/contract'
import Type from 'typebox'
import { type ReadOutputDeps, readOutput } from '../../domain/read-output.ts'
import type { Tell } from '../../observe/events.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { patienceOf } from '../patience.ts'
import { tellStreamErrors } from '../stream-errors.ts'

/** A follower whose machine is gone sends nothing that tells: the system asks it from time to time. */
const askFollowerMs = 30_000

export function addExecutionOutput(app: App, deps: ReadOutputDeps & { tell: Tell }): void {
  app.route({
    method: 'GET',
    url: '/job/api/executions/:jobExecutionId/output',
    config: { scopes: ['READ'], refusals: ['J-302'] },
    schema: {
      operationId: 'getExecutionOutput',
      tags: ['executions'],
      summary: 'Read the output of an execution, or follow it while it is written',
      description:
        'The bytes as the device wrote them. If there was more than is kept, the last line says so. ' +
        'With `follow` further attempts come after it, each behind a line that says so, unless `attempt` is given. ' +
        'Whoever was cut off goes on with `attempt` and `offset`: the bytes it has.',
      params: ExecutionParams,
      querystring: OutputQuery,
      response: {
        200: {
          description: 'The output',
          headers: {
            'x-output-attempt': Type.Integer({ description: 'Whose output it is, or begins with' }),
            'x-output-length': Type.Integer({ description: 'How many bytes of it are kept by now' }),
          },
          content: { 'text/plain': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
        },
      },
    },
    handler: async (request, reply) => {
      const { jobExecutionId } = request.params
      const { attempt: wanted, offset, follow, download } = request.query
      const { socket } = request.raw
      if (follow) socket.setKeepAlive(true, askFollowerMs)
      const { attempt, length, slices } = await readOutput(deps, callerOf(request), jobExecutionId, {
        attempt: wanted,
        offset,
        follow,
        callerGone: patienceOf(reply, 0).callerGone,
        onIdle() {
          // Whoever follows learns that it does before there is anything to read.
          if (!reply.raw.headersSent) reply.raw.flushHeaders()
          // Silence is right while there is nothing to say: the connection's clock starts again. It runs on while
          // there is something that the follower does not take.
          socket.setTimeout(socket.timeout ?? 0)
        },
      })
      const stream = Readable.from(slices, { objectMode: false })
      tellStreamErrors(stream, request, reply, deps.tell)
      if (download) {
        reply.header('content-disposition', `attachment; filename="execution-${jobExecutionId}.log"`)
      }
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store')
        .header('x-output-attempt', String(attempt))
        .header('x-output-length', String(length))
        .send(stream)
    },
  })
}
