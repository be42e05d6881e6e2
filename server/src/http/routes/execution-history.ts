// The history of an execution, and why it is in its current state.

import { ExecutionParams, Explanation, History } from '@jobcast/contract'
import { notFound } from '../../domain/common/not-found.ts'
import { type ExplainDeps, explainExecution } from '../../domain/execution/explain-execution.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { toExplanation, toTransition } from '../wire/to-wire.ts'

const url = '/job/api/executions/:jobExecutionId'

export function addExecutionHistory(app: App, deps: ExplainDeps): void {
  app.route({
    method: 'GET',
    url: `${url}/history`,
    config: { scopes: ['READ'], refusals: ['J-302'] },
    schema: {
      operationId: 'getExecutionHistory',
      tags: ['executions'],
      summary: 'Get the history of an execution: every transition with time, actor and cause',
      params: ExecutionParams,
      response: { 200: History },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      const transitions = await deps.store.listTransitions({
        ownerNo,
        jobExecutionId: request.params.jobExecutionId,
      })
      if (transitions === undefined) throw notFound('J-302', request.params.jobExecutionId)
      return { items: transitions.map(toTransition) }
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/explain`,
    config: { scopes: ['READ'], refusals: ['J-302'] },
    schema: {
      operationId: 'explainExecution',
      tags: ['executions'],
      summary: 'Explain in one sentence why an execution is in its current state',
      description: 'What it is waiting for, what its device is doing, or how it ended.',
      params: ExecutionParams,
      response: { 200: Explanation },
    },
    handler: async (request) => {
      const { jobExecutionId } = request.params
      const { execution, explanation } = await explainExecution(deps, callerOf(request), jobExecutionId)
      return toExplanation(execution, explanation)
    },
  })
}
