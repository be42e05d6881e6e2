// POST /job/api/jobs/execute.

import { Readable } from 'node:stream'
import { TriggeredExecution, TriggerRequest } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import { type TriggerDeps, triggerJob } from '../../domain/trigger/trigger-job.ts'
import type { Tell } from '../../observe/events.ts'
import { type AuthenticateDeps, asCaller } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { turnToAnswer } from '../connections/turns.ts'
import { IdempotencyHeaders, replayedDescription, replayedHeader } from '../wire/idempotency-key.ts'
import { tellStreamErrors } from '../wire/stream-errors.ts'
import { mostAtOnce, triggeredJson, triggeredPieces } from '../wire/triggered-json.ts'

export type TriggerLimits = {
  maxDevices: number
  maxTriggerBytes: number
  /** The rest of the body, without the list of devices. */
  otherBytes: number
  bytesPerDevice: number
}

const triggerPath = '/job/api/jobs/execute'

function triggerBody({ maxDevices }: Pick<TriggerLimits, 'maxDevices'>) {
  const { jobName, deviceIds } = TriggerRequest.properties
  return Type.Object(
    { jobName, deviceIds: Type.Array(deviceIds.items, { ...deviceIds, maxItems: maxDevices }) },
    { title: 'TriggerRequest', examples: [{ jobName: 'restart', deviceIds: ['kiosk-1', 'kiosk-2'] }] },
  )
}

export function addTriggerJob(
  app: App,
  deps: TriggerDeps & AuthenticateDeps & { tell: Tell },
  limits: TriggerLimits,
): void {
  app.route({
    method: 'POST',
    url: triggerPath,
    config: {
      scopes: ['TRIGGER'],
      comparesKey: true,
      wrongTypeCode: 'J-500',
      largeBody: {
        text: 'jobName',
        list: 'deviceIds',
        maxItems: limits.maxDevices,
        otherBytes: limits.otherBytes,
        bytesPerItem: limits.bytesPerDevice,
      },
      refusals: ['J-001', 'J-301', 'J-501', 'J-502', 'J-908', 'J-912'],
    },
    bodyLimit: limits.maxTriggerBytes,
    // Fastify sends bytes as well as text; its type allows text only.
    serializerCompiler: () => triggeredJson as (run: LaunchedRun) => string,
    schema: {
      operationId: 'triggerJob',
      tags: ['trigger'],
      summary: 'Trigger a job on one or more devices',
      description:
        'Creates one execution per device, or none at all. The Location header is the run. ' +
        'With an Idempotency-Key the call can be repeated safely for 24 hours: it returns the first response and creates nothing.',
      headers: IdempotencyHeaders,
      body: triggerBody(limits),
      response: {
        201: Type.Unsafe<LaunchedRun>(
          Type.Array(TriggeredExecution, {
            description: 'One element per device',
            headers: {
              location: { type: 'string', description: 'The run: /job/api/runs/{runId}' },
              [replayedHeader]: replayedDescription,
            },
          }),
        ),
      },
    },
    handler: async (request, reply) => {
      const { 'idempotency-key': key, traceparent } = request.headers
      const run = await asCaller(deps, request, (caller) =>
        triggerJob(deps, caller, request.body, key, traceparent),
      )
      request.runId = run.runId
      const turn = turnToAnswer(run.devices.length)
      if (turn) await turn
      if (run.isReplayed) reply.header(replayedHeader, 'true')
      reply.code(201).header('location', `/job/api/runs/${run.runId}`)
      return run.devices.length > mostAtOnce ? sendInPieces(request, reply, run) : reply.send(run)
    },
  })

  function sendInPieces(request: FastifyRequest, reply: FastifyReply, run: LaunchedRun): FastifyReply {
    const stream = Readable.from(triggeredPieces(run), { objectMode: false })
    tellStreamErrors(stream, request, reply, deps.tell)
    return reply.type('application/json; charset=utf-8').send(stream)
  }
}
