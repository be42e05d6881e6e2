// New runs on devices of an earlier one: retries and rollbacks.

import { RetryRequest, RollbackRequest, RunParams } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readWritten } from '../../domain/common/ports/storage-errors.ts'
import type { ViewDeps } from '../../domain/rollout/view-rollout.ts'
import { retryRun } from '../../domain/trigger/retry-run.ts'
import { type RollbackDeps, rollBackRun } from '../../domain/trigger/roll-back-run.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { CreatedRun, toRunWithRollout } from '../wire/answer-run.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { IdempotencyHeaders, replayedHeader } from '../wire/idempotency-key.ts'

const refusals = [
  ...([
    'J-001',
    'J-301',
    'J-304',
    'J-311',
    'J-313',
    'J-318',
    'J-319',
    'J-501',
    'J-502',
    'J-506',
    'J-908',
    'J-912',
  ] as const),
]

type RunAgainDeps = RollbackDeps & ViewDeps

export function addRunAgain(app: App, deps: RunAgainDeps): void {
  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/retry',
    config: { scopes: ['TRIGGER'], refusals: [...refusals, 'J-305', 'J-309', 'J-503'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'retryRun',
      tags: ['trigger'],
      summary: 'Trigger the job again on the devices of a run whose executions were unsuccessful',
      description:
        'Creates a new run, linked to the old one by `retryOf`, with the same parameters and, by default, of the same ' +
        'version of the job and released by the same rollout. Unfinished executions are left alone. With an Idempotency-Key the call can be repeated ' +
        'safely for 24 hours.',
      params: RunParams,
      headers: IdempotencyHeaders,
      body: RetryRequest,
      response: {
        201: CreatedRun,
      },
    },
    handler: async (request, reply) => {
      const { params, body, headers } = request
      const again = await retryRun(deps, callerOf(request), params.runId, body, callDetails(headers))
      return reply.code(201).send(await answerAgain(deps, request, reply, again))
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/rollback',
    config: { scopes: ['TRIGGER'], refusals: [...refusals, 'J-309', 'J-314', 'J-317', 'J-503', 'J-910'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'rollBackRun',
      tags: ['trigger'],
      summary: 'Roll the devices of a run back to an earlier version of the job',
      description:
        'Stops the run first: executions that were not released are CANCELED, and those running on the devices to roll back are ' +
        'asked to cancel. When nothing of it is left to start, creates a new run, linked to the old one by `rollbackOf`, of the version before (or ' +
        '`toVersion`), on every device that may have received it: all that the run was released to, however their executions ' +
        'ended. It is released at once unless a `rollout` is given. If the job requires approval, so does the rollback, except to ' +
        'the version before if an earlier run of it was released completely. Stopping an unfinished run that somebody ' +
        'else started needs MANAGE as well (J-804). Parameters that this version declares keep their values. A second ' +
        'rollback is rejected (J-317) unless `again` is true. With an Idempotency-Key the call can be repeated safely ' +
        'for 24 hours.',
      params: RunParams,
      headers: IdempotencyHeaders,
      body: RollbackRequest,
      response: {
        201: CreatedRun,
      },
    },
    handler: async (request, reply) => {
      const { params, body, headers } = request
      const again = await rollBackRun(deps, callerOf(request), params.runId, body, callDetails(headers))
      return reply.code(201).send(await answerAgain(deps, request, reply, again))
    },
  })
}

async function answerAgain(
  deps: RunAgainDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { run, isReplayed }: Awaited<ReturnType<typeof retryRun>>,
) {
  request.runId = run.runId
  if (isReplayed) reply.header(replayedHeader, 'true')
  const body = await readWritten(toRunWithRollout(deps, callerOf(request), run))
  reply.header('location', `/job/api/runs/${run.runId}`)
  return body
}

function callDetails(headers: { 'idempotency-key'?: string; traceparent?: string }) {
  return { idempotencyKey: headers['idempotency-key'], traceParent: headers.traceparent }
}
