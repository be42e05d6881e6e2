// Compares what a server has with what files describe: the changes to make.

import { isDeepStrictEqual } from 'node:util'
import type { Jobcast } from '@jobcast/client'
import { type Found, kinds, readAll, readOne } from './fleet-kind.ts'
import { inParallel } from './in-parallel.ts'
import type { Fields, Kind } from './kinds/kind.ts'
import type { Fleet, Wanted } from './parse-fleet.ts'

export type FieldChange = { from?: unknown; to?: unknown }

export type Change = {
  action: 'create' | 'update' | 'delete'
  kind: Kind
  name: string
  /** What to send; for a deletion, the content to delete. */
  content: Fields
  fields: Record<string, FieldChange>
}

/** `hasHidden`: the key lacks MANAGE, so part of a field (the path of a webhook's URL) was not compared. */
export type Plan = { changes: Change[]; unchanged: number; hasHidden: boolean }

/** Up to this many are read one by one: the server may have a million others. */
const maxSingleReads = 50

export async function planFleet(client: Jobcast, fleet: Fleet, { prune = false } = {}): Promise<Plan> {
  const plan: Plan = { changes: [], unchanged: 0, hasHidden: false }
  for (const kind of kinds) {
    if (!fleet.kinds.has(kind)) continue
    const wanted = fleet.items.filter((item) => item.kind === kind)
    const found = await find(client, kind, wanted, prune)
    const isHidden = found.size > 0 && kind.shownToReaders !== undefined && !(await canManage(client))
    plan.hasHidden ||= isHidden
    for (const item of wanted) {
      const change = changeOf(item, found.get(item.name), isHidden)
      if (change === undefined) plan.unchanged++
      else plan.changes.push(change)
      found.delete(item.name)
    }
    if (prune) plan.changes.push(...[...found].map(([name, content]) => deletionOf(kind, name, content)))
  }
  return { ...plan, changes: inOrder(plan.changes) }
}

/** Deletions come last. */
function inOrder(changes: Change[]): Change[] {
  const isLast = ({ action }: Change) => action === 'delete'
  return [...changes.filter((change) => !isLast(change)), ...changes.filter(isLast)]
}

async function find(
  client: Jobcast,
  kind: Kind,
  wanted: Wanted[],
  all: boolean,
): Promise<Map<string, Fields>> {
  const found = new Map<string, Fields>()
  const keep = (item: Found | undefined) => item && found.set(item.name, item.fields)
  if (all || wanted.length > maxSingleReads) for await (const item of readAll(kind, client)) keep(item)
  else await inParallel(wanted, async ({ name }) => keep(await readOne(kind, client, name)))
  return found
}

async function canManage(client: Jobcast): Promise<boolean> {
  return (await client.keys.self()).scopes.includes('MANAGE')
}

/** Undefined if nothing differs. `isHidden`: only the part that a key without MANAGE can read is compared. */
function changeOf(
  { kind, name, content }: Wanted,
  found: Fields | undefined,
  isHidden: boolean,
): Change | undefined {
  // Through JSON, as the server gets it: -0 becomes 0.
  const wanted: Fields = JSON.parse(JSON.stringify(kind.filled(name, content)))
  if (found === undefined) {
    const fields = Object.keys(wanted).filter((field) => content[field] !== undefined)
    const changes = fields.map((field) => [field, { to: wanted[field] }])
    return { action: 'create', kind, name, content, fields: Object.fromEntries(changes) }
  }
  const shown = (isHidden && kind.shownToReaders?.(wanted)) || wanted
  const different = Object.keys(wanted).filter((field) => !isDeepStrictEqual(shown[field], found[field]))
  if (different.length === 0) return undefined
  const changes = different.map((field) => [field, { from: found[field], to: wanted[field] }])
  return { action: 'update', kind, name, content, fields: Object.fromEntries(changes) }
}

function deletionOf(kind: Kind, name: string, content: Fields): Change {
  return { action: 'delete', kind, name, content, fields: {} }
}
