// Operates the rollouts of an owner on any node: paused ones and those that wait for an approval continue after a while.

import { setTimeout as delay } from 'node:timers/promises'
import type { Run } from '@jobcast/contract'
import { buildApi } from '@jobcast/testkit/call-api'
import type { Random } from '@jobcast/testkit/seeded-random'
import { within } from '@jobcast/testkit/within'

type PickNode = () => { http: string; adminKey: string }

const everyMs = 1000
const waitLimitMs = 3000

export async function endRollouts(options: {
  pickNode: PickNode
  approverKey: string
  isOver: () => boolean
}): Promise<void> {
  const { pickNode, approverKey, isOver } = options
  while (!isOver()) {
    await delay(everyMs)
    const listed = await ask(pickNode, 'GET', 'runs?finished=false&limit=200')
    const runs: Run[] = listed?.status === 200 ? listed.json.items : []
    for (const { runId, rollout } of runs) {
      if (rollout?.state === 'PAUSED') await ask(pickNode, 'POST', `runs/${runId}/resume`)
      if (rollout?.state === 'AWAITING_APPROVAL')
        await ask(pickNode, 'POST', `runs/${runId}/approve`, approverKey)
    }
  }
}

/** Several decisions at any instant, some of them at once at different nodes; most come too late or too early. */
export async function steerRun(pickNode: PickNode, random: Random, runId: number): Promise<void> {
  for (let changes = random.below(4); changes > 0; changes--) {
    await delay(random.below(200))
    const both = Array.from({ length: random.chance(0.5) ? 2 : 1 }, () =>
      random.pick(['pause', 'pause', 'resume', 'advance']),
    )
    await Promise.all(both.map((what) => ask(pickNode, 'POST', `runs/${runId}/${what}`)))
  }
}

/** Whatever comes of it: the events say whether it counted. */
async function ask(pickNode: PickNode, method: string, path: string, key?: string) {
  const { http, adminKey } = pickNode()
  const body = method === 'POST' ? { body: {} } : {}
  const asked = buildApi(http, adminKey).call(method, `/job/api/${path}`, { ...body, ...(key && { key }) })
  return within(waitLimitMs, 'no answer', asked).catch(() => undefined)
}
