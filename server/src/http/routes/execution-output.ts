// The output of an execution as the device wrote it: bytes, not JSON.

import { Readable } from 'node:stream'
import { ExecutionParams, OutputQuery } from '@jobcast/contract'
import Type from 'typebox'
import { type ReadOutputDeps, readOutput } from '../../domain/execution/read-output.ts'
import type { Tell } from '../../observe/events.ts'
import { callerOf, type IdentifyDeps } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { countStream, type StreamDeps } from '../connections/count-stream.ts'
import { holdRequest } from '../connections/held-request.ts'
import { tellStreamErrors } from '../wire/stream-errors.ts'

/** TCP keep-alive detects followers whose machine is gone. */
const keepAliveMs = 30_000

export function addExecutionOutput(
  app: App,
  deps: ReadOutputDeps & IdentifyDeps & StreamDeps & { tell: Tell },
): void {
  app.route({
    method: 'GET',
    url: '/job/api/executions/:jobExecutionId/output',
    config: { scopes: ['READ'], refusals: ['J-302', 'J-912'] },
    schema: {
      operationId: 'getExecutionOutput',
      tags: ['executions'],
      summary: 'Get the output of an execution, or follow it while it is written',
      description:
        'The bytes as the device wrote them. If the output was truncated, the last line says so. ' +
        'With `follow`, later attempts are appended, each after a line that announces it, unless `attempt` is given. ' +
        'After a disconnect, resume with `attempt` and `offset` (the number of bytes you have).',
      params: ExecutionParams,
      querystring: OutputQuery,
      response: {
        200: {
          description: 'The output',
          headers: {
            'x-output-attempt': Type.Integer({
              description: 'The attempt this output belongs to, or starts with',
            }),
            'x-output-length': Type.Integer({ description: 'Number of bytes stored so far' }),
          },
          content: { 'text/plain': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
        },
      },
    },
    handler: async (request, reply) => {
      const { jobExecutionId } = request.params
      const { attempt: wanted, offset, follow, download } = request.query
      const { socket } = request.raw
      const { callerGone, isValid } = holdRequest(deps, request, reply)
      if (follow) {
        countStream(deps, request, reply)
        socket.setKeepAlive(true, keepAliveMs)
      }
      const { attempt, length, slices } = await readOutput(deps, callerOf(request), jobExecutionId, {
        attempt: wanted,
        offset,
        follow,
        ...{ callerGone, isValid },
        onIdle() {
          // A follower gets the headers before any output.
          if (!reply.raw.headersSent) reply.raw.flushHeaders()
          // The connection may be idle while there is no output, so its timeout restarts. It keeps running while there
          // is output that the follower does not read.
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
