// Starts the background tasks and, in a cluster, this node's membership.

import { keepClock, runAmongNodes, startBackground } from '../background/background-tasks.ts'
import { NodeLife } from '../dispatch/nodes/node-life.ts'
import type { WebhookSender } from '../dispatch/webhooks/webhook-sender.ts'
import type { AuditSealer } from '../domain/audit/seal-audit.ts'
import type { LinkedParts } from './link-nodes.ts'
import type { Storage } from './open-storage.ts'
import type { Start } from './start.ts'
import type { Disks } from './watch-disks.ts'

const dayMs = 24 * 60 * 60_000

type TasksNeeds = {
  storage: Storage
  disks: Disks
  sealer: AuditSealer | undefined
  /** The sender of this node. */
  webhooks: WebhookSender
}

export function startTasks(start: Start, parts: LinkedParts, needs: TasksNeeds): void {
  const { config, ownNow, elapsed, tell, takeDown } = start
  const { storage, disks, sealer, webhooks } = needs
  const { steady, wall, keptClock, joined } = storage
  const { keepEventsDays, keepAuditDays, keepExecutionsDays } = config
  const background = startBackground(
    {
      ...parts,
      ...disks,
      ...{ sealer, ownNow },
      keepEventsMs: keepEventsDays * dayMs,
      keepAuditMs: keepAuditDays * dayMs,
      keepExecutionsMs: keepExecutionsDays === undefined ? undefined : keepExecutionsDays * dayMs,
    },
    parts.dispatcher,
  )
  if (joined) {
    const life = new NodeLife({
      ...parts,
      ...{ nodes: joined.nodes, share: joined.share, steady, wall, elapsed, webhooks },
      onFailure: (error) => tell({ kind: 'dispatch-failed', error }),
      onOtherHistory: () => tell({ kind: 'other-history' }),
    })
    life.start()
    runAmongNodes(background, life)
  }
  if (keptClock) keepClock(background, keptClock)
  takeDown.add(() => parts.rollouts.quiet())
  takeDown.add(() => parts.schedules.quiet())
  takeDown.add(() => background.stop())
}
