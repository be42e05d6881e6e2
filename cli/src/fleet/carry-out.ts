// A plan, carried out: what one change meets does not stop the others, unless it would meet all of them.

import type { Jobcast } from '@jobcast/client'
import { inParallel } from './in-parallel.ts'
import type { Change, Plan } from './plan-fleet.ts'

export type Outcome =
  | { kind: 'done'; change: Change; secret: string | undefined }
  | { kind: 'failed'; change: Change; error: unknown }
  /** Not begun, because another failed in a way that would be its own. */
  | { kind: 'skipped'; change: Change }

/** Gives an outcome for each change, in the order of the plan. */
export async function carryOut(
  client: Jobcast,
  { changes }: Plan,
  meetsAll: (error: unknown) => boolean,
): Promise<Outcome[]> {
  const outcomes = new Map<Change, Outcome>()
  let isOver = false
  for (const group of inSteps(changes)) {
    await inParallel(group, async (change) => {
      if (isOver) return
      try {
        outcomes.set(change, { kind: 'done', change, secret: await send(client, change) })
      } catch (error) {
        outcomes.set(change, { kind: 'failed', change, error })
        isOver ||= meetsAll(error)
      }
    })
  }
  return changes.map((change) => outcomes.get(change) ?? { kind: 'skipped', change })
}

/** Kind by kind, and what is deleted after all else. */
function inSteps(changes: Change[]): Change[][] {
  const groups = Map.groupBy(changes, ({ action, kind }) => `${action === 'delete'} ${kind.field}`)
  return [...groups.values()]
}

async function send(client: Jobcast, { action, kind, name, content }: Change): Promise<string | undefined> {
  if (action !== 'delete') return kind.put(client, name, content, action === 'create')
  await kind.remove(client, name)
  return undefined
}
