// Executions: get, list, cancel.

import {
  CancelRequest,
  Execution,
  ExecutionPage,
  ExecutionParams,
  ExecutionQuery,
  JobDocument,
  WaitQuery,
} from '@jobcast/contract'
import { type CancelDeps, cancelExecution } from '../../domain/execution/cancel-execution.ts'
import { listExecutions } from '../../domain/execution/list-executions.ts'
import type { ExecutionFilter } from '../../domain/execution/ports/executions.ts'
import { type ReadDocumentDeps, readDocument } from '../../domain/execution/read-document.ts'
import { type ReadDeps, readExecution } from '../../domain/execution/read-execution.ts'
import { callerOf, type IdentifyDeps } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { holdRequest } from '../connections/held-request.ts'
import { numberSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { stateAndTimes } from '../wire/list-filter.ts'
import { toExecution } from '../wire/to-wire.ts'

export function addExecutions(app: App, deps: ReadDeps & CancelDeps & IdentifyDeps & ReadDocumentDeps): void {
  app.route({
    method: 'GET',
    url: '/job/api/executions/:jobExecutionId',
    config: { scopes: ['READ'], refusals: ['J-302'] },
    schema: {
      operationId: 'getExecution',
      tags: ['executions'],
      summary: 'Get an execution, optionally waiting for its end',
      params: ExecutionParams,
      querystring: WaitQuery,
      response: { 200: Execution },
    },
    handler: async (request, reply) => {
      const { jobExecutionId } = request.params
      const held = holdRequest(deps, request, reply, request.query.wait)
      const execution = await readExecution(deps, callerOf(request), jobExecutionId, held)
      await held.requireValid()
      return toExecution(execution, deps.moment())
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/executions/:jobExecutionId/document',
    config: { scopes: ['READ'], refusals: ['J-302', 'J-506'] },
    schema: {
      operationId: 'getExecutionDocument',
      tags: ['executions'],
      summary: 'Get the document that the device of an execution gets',
      description:
        'Placeholders are replaced by the parameters of the run and the attributes that the device has now; secrets are masked.',
      params: ExecutionParams,
      response: { 200: JobDocument },
    },
    handler: async (request) => {
      const found = await readDocument(deps, callerOf(request), request.params.jobExecutionId)
      return found as JobDocument
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/executions',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listExecutions',
      tags: ['executions'],
      summary: 'List executions, newest first',
      querystring: ExecutionQuery,
      response: { 200: ExecutionPage },
    },
    handler: async (request) => {
      const { query } = request
      const found = await listExecutions(deps, callerOf(request), toFilter(query), numberSlice(query))
      const now = deps.moment()
      return toPage(found, (execution) => toExecution(execution, now))
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/executions/:jobExecutionId/cancel',
    config: { scopes: ['MANAGE'], refusals: ['J-302', 'J-303'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'cancelExecution',
      tags: ['executions'],
      summary: 'Cancel an execution',
      description:
        'A PENDING execution is CANCELED immediately; one that is IN_PROGRESS is CANCELING until its device confirms.',
      params: ExecutionParams,
      body: CancelRequest,
      response: {
        200: Execution,
      },
    },
    handler: async (request) => {
      const { jobExecutionId } = request.params
      const force = request.body.force ?? false
      const execution = await cancelExecution(deps, callerOf(request), jobExecutionId, force)
      return toExecution(execution, deps.moment())
    },
  })
}

function toFilter(query: ExecutionQuery): ExecutionFilter {
  const { jobName, deviceId, runId } = query
  return {
    ...(jobName !== undefined && { jobName }),
    ...(deviceId !== undefined && { deviceId }),
    ...(runId !== undefined && { runId }),
    ...stateAndTimes(query),
  }
}
