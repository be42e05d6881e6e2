// Opens the store and the clocks, which continue from the stored values or are shared by all nodes.

import { WebhookShare } from '../dispatch/webhooks/webhook-share.ts'
import type { Nodes } from '../domain/common/ports/nodes.ts'
import { KeptClock } from '../state/kept-clock.ts'
import { SharedWallClock } from '../state/shared-wall-clock.ts'
import { SteadyClock } from '../state/steady-clock.ts'
import { openStore } from '../store/open-store.ts'
import type { Start } from './start.ts'

/** `nodeNo`: the number of this node. */
export type Joined = { nodes: Nodes; share: WebhookShare; nodeNo: number }

export type Storage = Awaited<ReturnType<typeof openStorage>>

/** `joined` and `wall` are used if other nodes may share the database, `keptClock` otherwise. */
export async function openStorage({ config, takeDown, tell, log, onLost, ownNow, elapsed }: Start) {
  const { store, nodes } = await openStore(config, (error) => {
    tell({ kind: 'storage-lost', error })
    log.close()
    onLost()
  })
  takeDown.add(store.close)
  const steady = new SteadyClock(ownNow, elapsed)
  const wall = new SharedWallClock(steady)
  const now = nodes ? wall.now : ownNow
  const keptClock = nodes ? undefined : new KeptClock({ store, steady, now })
  await keptClock?.resume()
  const joined = nodes && (await joinNodes(nodes, steady, wall, elapsed))
  return { store, now, steady, wall, keptClock, joined }
}

/** Registers this node, adopts the shared clocks and takes its share of the webhooks. */
async function joinNodes(
  nodes: Nodes,
  steady: SteadyClock,
  wall: SharedWallClock,
  elapsed: () => number,
): Promise<Joined> {
  const share = new WebhookShare(nodes, elapsed)
  const beat = await nodes.beat(undefined)
  steady.startAt(beat.clock)
  share.setNodes(beat)
  // A reading is late by its round trip, so the fastest of a few is used.
  for (let more = 0; more < 3; more++) {
    const next = await nodes.beat(steady.now())
    steady.keepUpWith(next.clock)
    wall.follow(next)
  }
  return { nodes, share, nodeNo: beat.nodeNo }
}
