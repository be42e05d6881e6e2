// The list of executions. A restricted caller sees only those of its jobs and devices.

import type { Caller } from '../access/caller.ts'
import { devicesWithin, reachOf } from '../access/device-reach.ts'
import { jobFilterOf } from '../access/restriction.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { ExecutionFilter, StoredExecution } from './ports/executions.ts'

type ListDeps = { store: Pick<Store, 'listExecutions' | 'matchDevices'> }

/** Executions per read, and the maximum of reads; after that the slice is short. */
const readAtOnce = 500
const mostReads = 20

export async function listExecutions(
  deps: ListDeps,
  caller: Caller,
  asked: ExecutionFilter,
  slice: Slice<number>,
): Promise<Sliced<StoredExecution, number>> {
  const { ownerNo } = caller
  const filter = { ...asked, ...jobFilterOf(caller) }
  const reach = reachOf(caller)
  if (reach === undefined) return deps.store.listExecutions({ ownerNo, filter, slice })
  const found: StoredExecution[] = []
  let after = slice.after
  for (let reads = 0; reads < mostReads; reads++) {
    const part = { after, limit: Math.max(slice.limit, readAtOnce) }
    const read = await deps.store.listExecutions({ ownerNo, filter, slice: part })
    const deviceIds = read.items.map(({ deviceId }) => deviceId)
    const within = await devicesWithin(deps, caller, reach, deviceIds)
    found.push(...read.items.filter(({ deviceId }) => within.has(deviceId)))
    if (found.length > slice.limit) {
      const items = found.slice(0, slice.limit)
      return { items, next: items.at(-1)?.jobExecutionId }
    }
    after = read.next
    if (after === undefined) break
  }
  return { items: found, next: after }
}
