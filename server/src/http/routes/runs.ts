// Runs: all executions of one trigger call, as counts per state; an end to all of them, a second try for some.

import {
  ApiError,
  CancelRequest,
  JobDocument,
  RetryRequest,
  Run,
  RunPage,
  RunParams,
  RunQuery,
  WaitQuery,
} from '@jobcast/contract'
import type { CancelDeps } from '../../domain/cancel-execution.ts'
import { cancelRun } from '../../domain/cancel-run.ts'
import { type ReadDeps, readRun } from '../../domain/read-execution.ts'
import { type RetryDeps, retryRun } from '../../domain/retry-run.ts'
import type { Documents } from '../../state/documents.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { numberSlice, toPage } from '../cursor.ts'
import { emptyBodyAsObject } from '../empty-body.ts'
import { IdempotencyHeaders } from '../idempotency-key.ts'
import { errorResponses } from '../openapi.ts'
import { patienceOf } from '../patience.ts'
import { toRun } from '../to-wire.ts'

export function addRuns(app: App, deps: ReadDeps & CancelDeps & RetryDeps & { documents: Documents }): void {
  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getRun',
      tags: ['executions'],
      summary: 'Read one run, or wait until all its executions have ended',
      params: RunParams,
      querystring: WaitQuery,
      response: { 200: Run, ...errorResponses('J-304', 'J-500', 'J-802', 'J-803', 'J-804', 'J-909') },
    },
    handler: async (request, reply) => {
      const patience = patienceOf(reply, request.query.wait)
      return toRun(await readRun(deps, callerOf(request), request.params.runId, patience))
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId/document',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getRunDocument',
      tags: ['executions'],
      summary: 'Read the document that the devices of a run got',
      description: 'As the job had it when the run was made, whatever became of the job since.',
      params: RunParams,
      response: {
        200: JobDocument,
        ...errorResponses('J-304', 'J-500', 'J-802', 'J-803', 'J-804', 'J-909'),
      },
    },
    handler: async (request) => {
      const run = await deps.store.getRun(callerOf(request).ownerNo, request.params.runId)
      if (run === undefined) throw new ApiError('J-304')
      return JSON.parse(await deps.documents.get(run.jobVersion))
    },
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
      response: { 200: RunPage, ...errorResponses('J-500', 'J-802', 'J-803', 'J-804', 'J-909') },
    },
    handler: async (request) => {
      const { jobName, finished } = request.query
      const filter = {
        ...(jobName !== undefined && { jobName }),
        ...(finished !== undefined && { finished }),
      }
      const runs = await deps.store.listRuns(callerOf(request).ownerNo, filter, numberSlice(request.query))
      return toPage(runs, toRun)
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/cancel',
    config: { scopes: ['MANAGE'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'cancelRun',
      tags: ['executions'],
      summary: 'Cancel all executions of a run that have not ended',
      description: 'Each as if it were canceled alone: the answer has the counts after that.',
      params: RunParams,
      body: CancelRequest,
      response: {
        200: Run,
        ...errorResponses('J-303', 'J-304', 'J-500', 'J-802', 'J-803', 'J-804', 'J-904', 'J-905', 'J-909'),
      },
    },
    handler: async (request) => {
      const force = request.body.force ?? false
      return toRun(await cancelRun(deps, callerOf(request), request.params.runId, force))
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/runs/:runId/retry',
    config: { scopes: ['TRIGGER'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'retryRun',
      tags: ['trigger'],
      summary: 'Trigger the job again on those devices of a run that did not succeed',
      description:
        'Makes a new run, linked to the old one by `retryOf`. What has not ended is left alone. ' +
        'With an Idempotency-Key the call can be repeated for 24 hours.',
      params: RunParams,
      headers: IdempotencyHeaders,
      body: RetryRequest,
      response: {
        201: {
          ...Run,
          headers: { location: { type: 'string', description: 'The run: /job/api/runs/{runId}' } },
        },
        ...errorResponses(
          'J-001',
          'J-301',
          'J-304',
          'J-305',
          'J-500',
          'J-501',
          'J-502',
          'J-802',
          'J-803',
          'J-804',
          'J-904',
          'J-905',
          'J-908',
          'J-909',
        ),
      },
    },
    handler: async (request, reply) => {
      const key = request.headers['idempotency-key']
      const run = await retryRun(deps, callerOf(request), request.params.runId, request.body, key)
      return reply.code(201).header('location', `/job/api/runs/${run.runId}`).send(toRun(run))
    },
  })
}
