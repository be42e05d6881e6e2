// Runs: all executions of one trigger call, with counts per state. Create, plan and cancel them.

import {
  ApiError,
  CancelRequest,
  DryRunQuery,
  JobDocument,
  Run,
  RunBody,
  RunFailures,
  RunPage,
  RunParams,
  RunPlan,
  RunQuery,
  WaitQuery,
} from '@jobcast/contract'
import { readWritten } from '../../domain/common/ports/storage-errors.ts'
import { type ReadDeps, readRun } from '../../domain/execution/read-execution.ts'
import type { ViewDeps } from '../../domain/rollout/view-rollout.ts'
import { type CancelRunDeps, cancelRun } from '../../domain/trigger/cancel-run.ts'
import { type CreateRunDeps, createRun } from '../../domain/trigger/create-run.ts'
import { listRuns } from '../../domain/trigger/list-runs.ts'
import { planRun } from '../../domain/trigger/plan-run.ts'
import { readFailures } from '../../domain/trigger/read-failures.ts'
import { startPlan } from '../../domain/trigger/start-plan.ts'
import { callerOf, type IdentifyDeps } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { holdRequest } from '../connections/held-request.ts'
import { CreatedRun, toRunsInReach, toRunWithRollout } from '../wire/answer-run.ts'
import { numberSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { IdempotencyHeaders, replayedHeader } from '../wire/idempotency-key.ts'
import { stateAndTimes } from '../wire/list-filter.ts'
import { requireFewer, requireRun } from '../wire/run-body.ts'
import type { TriggerLimits } from './trigger-job.ts'

export function addRuns(
  app: App,
  deps: ReadDeps & CancelRunDeps & CreateRunDeps & IdentifyDeps & ViewDeps,
  { maxDevices, maxTriggerBytes }: TriggerLimits,
): void {
  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId',
    config: { scopes: ['READ'], refusals: ['J-304'] },
    schema: {
      operationId: 'getRun',
      tags: ['executions'],
      summary: 'Get a run, optionally waiting until all its executions have ended',
      params: RunParams,
      querystring: WaitQuery,
      response: { 200: Run },
    },
    handler: async (request, reply) => {
      const held = holdRequest(deps, request, reply, request.query.wait)
      const run = await readRun(deps, callerOf(request), request.params.runId, held)
      await held.requireValid()
      const [answer] = await toRunsInReach(deps, callerOf(request), [run], { withGates: true })
      return answer as Run
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId/document',
    config: { scopes: ['READ'], refusals: ['J-304'] },
    schema: {
      operationId: 'getRunDocument',
      tags: ['executions'],
      summary: 'Get the document of a run',
      description:
        'The document of the version of the job that it uses, with unresolved placeholders. For the document that one ' +
        'device gets, see the execution.',
      params: RunParams,
      response: {
        200: JobDocument,
      },
    },
    handler: async (request) => {
      const run = await deps.store.getRun({ ownerNo: callerOf(request).ownerNo, runId: request.params.runId })
      if (run === undefined) throw new ApiError('J-304')
      return JSON.parse((await deps.documents.content(run.jobVersion)).document)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId/failures',
    config: { scopes: ['READ'], refusals: ['J-304'] },
    schema: {
      operationId: 'getRunFailures',
      tags: ['executions'],
      summary: 'Explain why executions of a run did not succeed, and what their devices have in common',
      description:
        'Counts all executions of the run that ended FAILED, TIMED_OUT, REJECTED or EXPIRED, and those that were CANCELED after ' +
        'they were sent to their device. `shared` compares the tags and attributes of their devices with those of the ' +
        'devices that SUCCEEDED; of more than 10,000 on one side, about 10,000 are compared.',
      params: RunParams,
      response: { 200: RunFailures },
    },
    handler: (request) => readFailures(deps, callerOf(request), request.params.runId),
  })

  app.route({
    method: 'GET',
    url: '/job/api/runs',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listRuns',
      tags: ['executions'],
      summary: 'List runs, newest first',
      querystring: RunQuery,
      response: { 200: RunPage },
    },
    handler: async (request) => {
      const { jobName, version, finished, rolloutState, scheduleName } = request.query
      if (version !== undefined && jobName === undefined) {
        throw new ApiError('J-500', {
          field: 'jobName',
          detail: 'jobName is required together with version.',
        })
      }
      const filter = {
        ...(jobName !== undefined && { jobName }),
        ...(version !== undefined && { version }),
        ...(finished !== undefined && { finished }),
        ...(rolloutState !== undefined && { rolloutState }),
        ...(scheduleName !== undefined && { scheduleName }),
        ...stateAndTimes(request.query),
      }
      const caller = callerOf(request)
      const { items, next } = await listRuns(deps, caller, filter, numberSlice(request.query))
      return toPage({ items: await toRunsInReach(deps, caller, items), next }, (run) => run)
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs',
    config: {
      scopes: ['TRIGGER'],
      refusals: [
        ...([
          'J-001',
          'J-301',
          'J-309',
          'J-311',
          'J-313',
          'J-318',
          'J-319',
          'J-501',
          'J-502',
          'J-503',
          'J-504',
          'J-505',
          'J-506',
        ] as const),
        ...(['J-908', 'J-912'] as const),
      ],
    },
    bodyLimit: maxTriggerBytes,
    schema: {
      operationId: 'createRun',
      tags: ['trigger'],
      summary: 'Trigger a job on listed or selected devices, or plan it',
      description:
        'Creates one execution per device, or none at all. A selector may match 1,000,000 devices; a list has at most ' +
        '`max-devices`. With `dryRun=true` it returns the plan and creates nothing; the `planId` of a plan, alone, starts ' +
        'exactly what the plan showed, once. With an Idempotency-Key the call can be repeated safely for 24 hours.',
      headers: IdempotencyHeaders,
      querystring: DryRunQuery,
      body: RunBody,
      response: {
        200: { ...RunPlan, description: 'The plan, with `dryRun=true`' },
        201: CreatedRun,
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      requireFewer(request.body, maxDevices)
      if (request.query.dryRun)
        return reply.code(200).send(await planRun(deps, caller, requireRun(request.body)))
      const { 'idempotency-key': key, traceparent } = request.headers
      const { planId, ...asked } = request.body
      const { run, isReplayed } =
        planId === undefined
          ? await createRun(deps, caller, requireRun(asked), key, traceparent)
          : await startPlan(deps, caller, planId, asked, { idempotencyKey: key, traceParent: traceparent })
      if (isReplayed) reply.header(replayedHeader, 'true')
      request.runId = run.runId
      return reply
        .code(201)
        .header('location', `/job/api/runs/${run.runId}`)
        .send(await readWritten(toRunWithRollout(deps, caller, run)))
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/cancel',
    config: { scopes: ['MANAGE'], refusals: ['J-303', 'J-304'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'cancelRun',
      tags: ['executions'],
      summary: 'Cancel the unfinished executions of a run',
      description:
        'Cancels each execution as if individually. The response has the new counts. If a large run is not ' +
        'canceled within 10 seconds, the status is 202: the counts are those so far, and the rest is being canceled. Read ' +
        'the run to follow it; if the node is stopped during that time, cancel the run again.',
      params: RunParams,
      body: CancelRequest,
      response: {
        200: Run,
        202: Run,
      },
    },
    handler: async (request, reply) => {
      const force = request.body.force ?? false
      const { run, isDone } = await cancelRun(deps, callerOf(request), request.params.runId, force)
      return reply.code(isDone ? 200 : 202).send(await toRunWithRollout(deps, callerOf(request), run))
    },
  })
}
