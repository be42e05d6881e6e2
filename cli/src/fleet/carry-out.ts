// Carries out a plan. An error of one change does not stop the others, unless it would affect all of them.

import type { Jobcast } from '@jobcast/client'
import { inParallel } from './in-parallel.ts'
import type { Change, Plan } from './plan-fleet.ts'

export type Outcome =
  | { kind: 'done'; change: Change; secret: string | undefined }
  | { kind: 'error'; change: Change; error: unknown }
  /** Not attempted, because an earlier error would have affected it as well. */
  | { kind: 'skipped'; change: Change }

/** Returns one outcome per change, in the order of the plan. */
export async function carryOut(
  client: Jobcast,
  { changes }: Plan,
  affectsAll: (error: unknown) => boolean,
  env: NodeJS.ProcessEnv,
): Promise<Outcome[]> {
  const outcomes = new Map<Change, Outcome>()
  let isStopped = false
  for (const group of inOrder(changes)) {
    await inParallel(group, async (change) => {
      if (isStopped) return
      try {
        outcomes.set(change, { kind: 'done', change, secret: await send(client, change, env) })
      } catch (error) {
        outcomes.set(change, { kind: 'error', change, error })
        isStopped ||= affectsAll(error)
      }
    })
  }
  return changes.map((change) => outcomes.get(change) ?? { kind: 'skipped', change })
}

/** Kind by kind. Deletions come last and in reverse order: dependents before what they depend on. */
function inOrder(changes: Change[]): Change[][] {
  const isDeletion = ({ action }: Change) => action === 'delete'
  const byKind = (some: Change[]) => [...Map.groupBy(some, ({ kind }) => kind.field).values()]
  const puts = byKind(changes.filter((change) => !isDeletion(change))).flatMap(byNeed)
  return [...puts, ...byKind(changes.filter(isDeletion)).flatMap(byNeed).reverse()]
}

/** Splits changes of one kind into steps, so that each resource comes after those that it needs. */
function byNeed(changes: Change[]): Change[][] {
  const { needs } = changes[0]?.kind ?? {}
  if (needs === undefined) return [changes]
  const steps: Change[][] = []
  let left = changes
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name))
    const isReady = ({ name, content }: Change) =>
      needs(content).every((each) => each === name || !names.has(each))
    // In a cycle nothing is ready. Send it all, and the service refuses it.
    const ready = left.some(isReady) ? left.filter(isReady) : left
    steps.push(ready)
    left = left.filter((change) => !ready.includes(change))
  }
  return steps
}

async function send(
  client: Jobcast,
  { action, kind, name, content }: Change,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (action !== 'delete') return kind.put(client, name, content, action === 'create', env)
  await kind.remove(client, name)
  return undefined
}
