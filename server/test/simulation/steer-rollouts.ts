// Operators of rollouts: during faults they pause, resume, advance and change them at any time; later they let everything continue
// that waits for an action.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../../src/domain/access/caller.ts'
import {
  advanceRun,
  type ChangeRolloutDeps,
  patchRun,
  pauseRun,
  resumeRun,
} from '../../src/domain/rollout/change-rollout.ts'
import { approveRun } from '../../src/domain/rollout/decide-approval.ts'
import { rates } from '../history/pick-rollout.ts'
import { NodeKilled, type SimulatedNode } from './simulated-node.ts'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

const everyMs = 500

/** Several at a time, each by one of the keys; most of them come too late or too early. */
export async function steerRollout(world: World, tenant: Tenant, runId: number): Promise<void> {
  const { random, time } = world
  for (let changes = random.below(6); changes > 0; changes--) {
    await time.sleep(random.below(600))
    if (world.isQuiet) return
    const node = await world.running()
    const both = random.chance(0.4) ? 2 : 1
    await Promise.all(
      Array.from({ length: both }, () => tryOne(node, () => changeOne(world, node, tenant, runId))),
    )
  }
}

function changeOne(
  { random }: World,
  { parts }: SimulatedNode,
  tenant: Tenant,
  runId: number,
): Promise<void> {
  const caller = random.pick(tenant.keys.slice(0, 2)).caller
  switch (random.pick(['pause', 'pause', 'resume', 'advance', 'approve', 'patch'] as const)) {
    case 'pause':
      return pauseRun(parts, caller, runId)
    case 'resume':
      return resumeRun(parts, caller, runId)
    case 'advance':
      return advanceRun(parts, caller, runId)
    case 'approve':
      return approveRun(parts, caller, runId, {})
    case 'patch':
      tenant.patched.add(runId)
      return changeRate(parts, caller, runId, random.pick(rates))
  }
}

async function changeRate(
  parts: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  ratePerMinute: number,
): Promise<void> {
  const found = await parts.store.getRollout({ ownerNo: caller.ownerNo, runId })
  if (found === undefined) return
  const { rollout } = found.rollout.plan
  if (rollout.ratePerMinute !== undefined) await patchRun(parts, caller, runId, { ratePerMinute })
}

/** What waits for somebody continues. */
export async function endRollouts(world: World): Promise<void> {
  while (!world.isOver) {
    await world.time.sleep(everyMs)
    if (!world.isQuiet) continue
    const node = await world.running()
    const open = await node.parts.store.listOpenRollouts()
    for (const { ownerNo, runId, state } of open) {
      const tenant = world.tenants.find((each) => each.ownerNo === ownerNo)
      for (const { caller } of tenant?.keys.slice(0, 2) ?? []) {
        if (state === 'PAUSED') await tryOne(node, () => resumeRun(node.parts, caller, runId))
        // By nobody who has made or changed it.
        const approver = { ...caller, keyId: 'approver' }
        if (state === 'AWAITING_APPROVAL')
          await tryOne(node, () => approveRun(node.parts, approver, runId, {}))
      }
    }
  }
}

async function tryOne(node: SimulatedNode, work: () => Promise<void>): Promise<void> {
  try {
    await node.answer(work())
  } catch (error) {
    const isExpected = error instanceof ApiError || error instanceof NodeKilled
    if (!isExpected && !String((error as Error).message).includes('simulated')) throw error
  }
}
