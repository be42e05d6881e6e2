// New runs on devices of an earlier one: retries and rollbacks.

import { RetryRequest, RollbackRequest, RunParams } from '@jobcast/contract'
import { readWritten } from '../../domain/common/ports/storage-errors.ts'
import type { ViewDeps } from '../../domain/rollout/view-rollout.ts'
import { type RetryDeps, retryRun, rollBackRun } from '../../domain/trigger/retry-run.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { CreatedRun, toRunWithRollout } from '../wire/answer-run.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { IdempotencyHeaders, replayedHeader } from '../wire/idempotency-key.ts'

const refusals = [
  ...(['J-001', 'J-301', 'J-304', 'J-311', 'J-313', 'J-501', 'J-502', 'J-506', 'J-908', 'J-912'] as const),
]

export function addRunAgain(app: App, deps: RetryDeps & ViewDeps): void {
  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/retry',
    config: { scopes: ['TRIGGER'], refusals: [...refusals, 'J-305'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'retryRun',
      tags: ['trigger'],
      summary: 'Trigger the job again on the devices of a run whose executions were unsuccessful',
      description:
        'Creates a new run, linked to the old one by `retryOf`, with the same parameters and, by default, of the same ' +
        'version of the job. Unfinished executions are left alone. With an Idempotency-Key the call can be repeated ' +
        'safely for 24 hours.',
      params: RunParams,
      headers: IdempotencyHeaders,
      body: RetryRequest,
      response: {
        201: CreatedRun,
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const details = callDetails(request.headers)
      const { run, isReplayed } = await retryRun(deps, caller, request.params.runId, request.body, details)
      request.runId = run.runId
      if (isReplayed) reply.header(replayedHeader, 'true')
      const body = await readWritten(toRunWithRollout(deps, caller, run))
      return reply.code(201).header('location', `/job/api/runs/${run.runId}`).send(body)
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/rollback',
    config: { scopes: ['TRIGGER'], refusals: [...refusals, 'J-314'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'rollBackRun',
      tags: ['trigger'],
      summary: 'Roll the devices of a run back to an earlier version of the job',
      description:
        'Creates a new run, linked to the old one by `rollbackOf`, of the version before (or `toVersion`), on the devices ' +
        'whose execution ended SUCCEEDED or FAILED. Parameters that this version declares keep their values. With an ' +
        'Idempotency-Key the call can be repeated safely for 24 hours.',
      params: RunParams,
      headers: IdempotencyHeaders,
      body: RollbackRequest,
      response: {
        201: CreatedRun,
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const details = callDetails(request.headers)
      const { run, isReplayed } = await rollBackRun(deps, caller, request.params.runId, request.body, details)
      request.runId = run.runId
      if (isReplayed) reply.header(replayedHeader, 'true')
      const body = await readWritten(toRunWithRollout(deps, caller, run))
      return reply.code(201).header('location', `/job/api/runs/${run.runId}`).send(body)
    },
  })
}

function callDetails(headers: { 'idempotency-key'?: string; traceparent?: string }) {
  return { idempotencyKey: headers['idempotency-key'], traceParent: headers.traceparent }
}
