// Operations on the rollout of a run, and on the fleet as a whole.

import {
  ApprovalRequest,
  Freeze,
  FreezeRequest,
  ResumeRequest,
  RolloutPatch,
  Run,
  RunParams,
} from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { readKeyNames } from '../../domain/access/key-names.ts'
import { type FreezeDeps, freezeFleet, unfreezeFleet } from '../../domain/device/freeze-fleet.ts'
import {
  advanceRun,
  type ChangeRolloutDeps,
  patchRun,
  pauseRun,
  resumeRun,
} from '../../domain/rollout/change-rollout.ts'
import { approveRun, denyRun } from '../../domain/rollout/decide-approval.ts'
import type { StoredFreeze } from '../../domain/rollout/ports/rollouts.ts'
import type { ViewDeps } from '../../domain/rollout/view-rollout.ts'
import type { ReplaceAfterDeps } from '../../domain/trigger/replace-waiting.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { answerRun } from '../wire/answer-run.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { toFreeze } from '../wire/rollout-to-wire.ts'

const runUrl = '/job/api/runs/:runId'
const approvalText =
  'Whoever created, changed or fired the run cannot decide (J-810). Keys that were created one from another are one principal, and so ' +
  'are the sessions of a key; a key that the operator or an ADMIN key has created is a separate principal. A second decision by the ' +
  'same principal is rejected. An approval is for the run as it is now: after a change the run waits for approval again.'
const freezeUrl = '/job/api/fleet/freeze'

type Act = (deps: ChangeRolloutDeps, caller: Caller, runId: number) => Promise<void>
const acts: { name: string; operationId: string; act: Act; summary: string; description: string }[] = [
  {
    name: 'pause',
    operationId: 'pauseRun',
    act: pauseRun,
    summary: 'Pause the rollout of a run',
    description: 'No more executions are released; released ones continue.',
  },
  {
    name: 'advance',
    operationId: 'advanceRun',
    act: advanceRun,
    summary: 'Start the next wave of a run now',
    description:
      'Works even if its gate is closed or the rollout is paused. At a gate with the action APPROVAL, the run then waits for approval; ' +
      'while it waits, advance and resume are rejected (J-303).',
  },
]

type ChangeDeps = ChangeRolloutDeps & ReplaceAfterDeps & ViewDeps

export function addRollouts(app: App, deps: ChangeDeps & FreezeDeps): void {
  for (const { name, operationId, act, summary, description } of acts) {
    app.route({
      method: 'POST',
      url: `${runUrl}/${name}`,
      config: { scopes: ['MANAGE'], refusals: ['J-303', 'J-304'] },
      schema: {
        ...{ operationId, tags: ['rollouts'], summary, description },
        params: RunParams,
        response: { 200: Run },
      },
      handler: async (request) => {
        const { runId } = request.params
        await act(deps, callerOf(request), runId)
        return answerRun(deps, callerOf(request), runId)
      },
    })
  }
  addResume(app, deps)
  addApprovals(app, deps)
  addFreeze(app, deps)
}

function addResume(app: App, deps: ChangeDeps): void {
  app.route({
    method: 'POST',
    url: `${runUrl}/resume`,
    config: { scopes: ['MANAGE'], refusals: ['J-303', 'J-304'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'resumeRun',
      tags: ['rollouts'],
      summary: 'Resume the rollout of a run, with or without some of its devices',
      description:
        'Resets the counters of the stop rules: executions that ended before do not stop it again. If failures have stopped ' +
        'the run (STOP_RULE, GATE_CLOSED), they are accepted: the gate judges the other devices of the wave, and if all of ' +
        'them have succeeded the next wave starts. Executions of the devices in `except` that have not started are canceled first.',
      params: RunParams,
      body: ResumeRequest,
      response: { 200: Run },
    },
    handler: async (request) => {
      const { runId } = request.params
      await resumeRun(deps, callerOf(request), runId, request.body)
      return answerRun(deps, callerOf(request), runId)
    },
  })
}

function addApprovals(app: App, deps: ChangeDeps): void {
  const approvals = [
    {
      name: 'approve',
      operationId: 'approveRun',
      act: approveRun,
      summary: 'Approve a run that waits for approval',
      description: `It continues when it has all required approvals. ${approvalText}`,
    },
    {
      name: 'deny',
      operationId: 'denyRun',
      act: denyRun,
      summary: 'Deny a run: executions that were not released are canceled',
      description: `One denial is enough. ${approvalText}`,
    },
  ]
  for (const { name, operationId, act, summary, description } of approvals) {
    app.route({
      method: 'POST',
      url: `${runUrl}/${name}`,
      config: { scopes: ['APPROVE'], refusals: ['J-303', 'J-304', 'J-810'] },
      preValidation: emptyBodyAsObject,
      schema: {
        ...{ operationId, tags: ['rollouts'], summary },
        description,
        params: RunParams,
        body: ApprovalRequest,
        response: { 200: Run },
      },
      handler: async (request) => {
        const { runId } = request.params
        await act(deps, callerOf(request), runId, request.body)
        return answerRun(deps, callerOf(request), runId)
      },
    })
  }

  app.route({
    method: 'PATCH',
    url: runUrl,
    config: { scopes: ['MANAGE'], refusals: ['J-303', 'J-304', 'J-810'] },
    schema: {
      operationId: 'changeRun',
      tags: ['rollouts'],
      summary: 'Change the rollout of a run in progress',
      description:
        'A merge patch (RFC 7396): fields that it does not name stay, null removes a field, and lists (`waves`, `stop`) are ' +
        'replaced as a whole. Waves that have started cannot change, and all waves keep their selector: the order of the ' +
        'devices was fixed when the run was created. A run that was approved waits for approval again. To take away or weaken a ' +
        'gate with the action APPROVAL needs APPROVE too, by somebody who did not create, change or fire the run (J-810).',
      params: RunParams,
      body: RolloutPatch,
      response: { 200: Run },
    },
    handler: async (request) => {
      const { runId } = request.params
      await patchRun(deps, callerOf(request), runId, request.body.rollout)
      return answerRun(deps, callerOf(request), runId)
    },
  })
}

function addFreeze(app: App, deps: FreezeDeps & Pick<ChangeRolloutDeps, 'moment'>): void {
  app.route({
    method: 'POST',
    url: freezeUrl,
    config: { scopes: ['MANAGE'] },
    schema: {
      operationId: 'freezeFleet',
      tags: ['rollouts'],
      summary: 'Freeze the fleet: stop offering work to its devices',
      description: 'Running executions continue. Jobs can be triggered; their executions stay PENDING.',
      body: FreezeRequest,
      response: { 200: Freeze },
    },
    handler: async (request) =>
      answerFreeze(deps, callerOf(request), await freezeFleet(deps, callerOf(request), request.body)),
  })

  app.route({
    method: 'GET',
    url: freezeUrl,
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getFreeze',
      tags: ['rollouts'],
      summary: 'Get whether the fleet is frozen, and why',
      response: { 200: Freeze },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      return answerFreeze(deps, caller, await deps.store.getFreeze({ ownerNo: caller.ownerNo }))
    },
  })

  app.route({
    method: 'DELETE',
    url: freezeUrl,
    config: { scopes: ['MANAGE'] },
    schema: {
      operationId: 'unfreezeFleet',
      tags: ['rollouts'],
      summary: 'End the freeze of the fleet',
      response: { 204: noContent('It is not frozen') },
    },
    handler: async (request, reply) => {
      await unfreezeFleet(deps, callerOf(request))
      return reply.code(204).send(undefined)
    },
  })
}

async function answerFreeze(
  { store, moment }: Pick<ChangeRolloutDeps, 'store' | 'moment'>,
  { ownerNo }: Caller,
  freeze: StoredFreeze | undefined,
): Promise<Freeze> {
  return toFreeze(freeze, await readKeyNames(store, ownerNo, moment().at, [freeze?.principal ?? null]))
}
