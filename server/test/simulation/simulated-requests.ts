// Requests of callers: a trigger, a run with a rollout, a window or a secret, or a run that is written in batches.

import type { NewRun, Rollout } from '@jobcast/contract'
import type { Random } from '@jobcast/testkit/seeded-random'
import type { Caller } from '../../src/domain/access/caller.ts'
import { createRun } from '../../src/domain/trigger/create-run.ts'
import { launchLargeRun } from '../../src/domain/trigger/launch-large-run.ts'
import { triggerJob } from '../../src/domain/trigger/trigger-job.ts'
import { pickRollout } from '../history/pick-rollout.ts'
import type { TriggerAnswer } from '../history/trigger-answer.ts'
import { secretJob, windows } from './seed-world.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { Tenant } from './tenant.ts'

export type SimulatedRequest =
  | { kind: 'trigger'; jobName: string; deviceIds: string[] }
  | { kind: 'run'; jobName: string; deviceIds: string[]; options: Partial<NewRun>; word?: string }
  | { kind: 'large'; jobName: string; deviceIds: string[]; deviceNos: Int32Array; rollout?: Rollout }

type Created = Extract<TriggerAnswer, { kind: 'created' }>
type Chosen = { jobName: string; deviceIds: string[] }

export async function pickRequest(
  node: SimulatedNode,
  tenant: Tenant,
  random: Random,
  chosen: Chosen,
): Promise<SimulatedRequest> {
  const { features, ownerNo } = tenant
  const trigger = { kind: 'trigger' as const, ...chosen }
  const kinds = [
    'trigger' as const,
    ...(features.rollouts ? (['rollout'] as const) : []),
    ...(features.windows ? (['window'] as const) : []),
    ...(features.secrets ? (['secret'] as const) : []),
    ...(features.largeRuns ? (['large'] as const) : []),
  ]
  switch (random.pick(kinds)) {
    case 'trigger':
      return trigger
    case 'rollout':
      return { ...trigger, kind: 'run', options: { rollout: pickRollout(random, chosen.deviceIds.length) } }
    case 'window':
      return { ...trigger, kind: 'run', options: { window: random.pick(Object.keys(windows)) } }
    case 'secret': {
      const word = `hush-${ownerNo}-${tenant.sentSecrets.length}-hush`
      tenant.sentSecrets.push(word)
      return { ...trigger, kind: 'run', jobName: secretJob, options: { parameters: { word } }, word }
    }
    case 'large': {
      const found = await selectNumbers(node, ownerNo, chosen.deviceIds)
      if (found.deviceIds.length === 0) return trigger
      const isHeld = features.rollouts && random.chance(0.3)
      const held = isHeld ? { rollout: pickRollout(random, found.deviceIds.length) } : {}
      return { kind: 'large', jobName: chosen.jobName, ...found, ...held }
    }
  }
}

/** None if the storage is away. */
async function selectNumbers(
  { parts, answer }: SimulatedNode,
  ownerNo: number,
  deviceIds: string[],
): Promise<{ deviceIds: string[]; deviceNos: Int32Array }> {
  const where = { kind: 'in' as const, name: 'deviceId', values: deviceIds }
  const selecting = parts.store.selectDevices({ ownerNo, where, slice: { after: undefined, limit: 100 } })
  const { items } = await answer(selecting).catch(() => ({ items: [] }))
  return {
    deviceIds: items.map(({ deviceId }) => deviceId),
    deviceNos: Int32Array.from(items, ({ deviceNo }) => deviceNo),
  }
}

export async function sendRequest(
  { parts }: SimulatedNode,
  caller: Caller,
  request: SimulatedRequest,
  key: string | undefined,
): Promise<Created> {
  const { jobName, deviceIds } = request
  switch (request.kind) {
    case 'trigger': {
      const made = await triggerJob(parts, caller, { jobName, deviceIds: [...deviceIds] }, key)
      const { runId, firstExecutionId, devices } = made
      const ids = devices.map(({ deviceId }) => deviceId)
      return { kind: 'created', runId, executions: numbered(ids, firstExecutionId) }
    }
    case 'run': {
      const asked = { jobName, targets: { deviceIds: [...deviceIds] }, ...request.options }
      const { run } = await createRun(parts, caller, asked, key)
      return { kind: 'created', runId: run.runId }
    }
    case 'large': {
      const { deviceNos, rollout } = request
      const plan = rollout && { rollout, approval: false, fitsAny: true }
      const made = await launchLargeRun(
        parts,
        caller,
        {
          ...{ jobName, deviceNos, asked: ['large', jobName, deviceIds, rollout ?? null] },
          request: { where: 'all', matched: deviceNos.length, note: null, rollbackOf: null },
          ...(plan && { requestedPlan: plan }),
        },
        key,
      )
      return { kind: 'created', runId: made.runId, executions: numbered(deviceIds, made.firstExecutionId) }
    }
  }
}

function numbered(deviceIds: string[], first: number): { jobExecutionId: number; deviceId: string }[] {
  return deviceIds.map((deviceId, index) => ({ jobExecutionId: first + index, deviceId }))
}
