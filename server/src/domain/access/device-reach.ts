// The devices that a caller whose key is restricted by a selector can see. All others are treated as unknown.

import type { Selector } from '@jobcast/contract/selector'
import { GroupedLookup } from '../common/grouped-lookup.ts'
import type { Store } from '../common/ports/store.ts'
import type { Caller } from './caller.ts'
import { readKeySelector } from './key-selector.ts'

type Reaching = Pick<Caller, 'restriction'>
export type ReachDeps = { store: Pick<Store, 'matchDevices'> }

/** Undefined: all devices of the owner. */
export function reachOf({ restriction }: Reaching): Selector | undefined {
  return restriction?.where === undefined ? undefined : readKeySelector(restriction.where)
}

/** Narrows the selector to devices that the caller can see. */
export function withinReach(caller: Reaching, where: Selector): Selector {
  const reach = reachOf(caller)
  return reach === undefined ? where : { kind: 'and', of: [reach, where] }
}

/** The devices of a list that a caller restricted to `reach` can see. */
export async function devicesWithin(
  { store }: ReachDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  reach: Selector,
  deviceIds: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(deviceIds)]
  if (asked.length === 0) return new Set()
  if (asked.length > mostShared)
    return new Set(await store.matchDevices({ ownerNo, where: reach, deviceIds: asked }))
  const lookup = lookupOf(store, ownerNo, reach)
  const found = await Promise.all(asked.map((deviceId) => lookup.find(deviceId)))
  return new Set(asked.filter((_, index) => found[index]))
}

// Calls with few devices share a statement: with separate statements, a trigger took 1.7 times as much CPU.
const mostShared = 16
const keptLookups = 1000
type Lookups = Map<Selector, Map<number, GroupedLookup<true>>>
const lookups = new WeakMap<ReachDeps['store'], Lookups>()

function lookupOf(store: ReachDeps['store'], ownerNo: number, where: Selector): GroupedLookup<true> {
  let ofStore = lookups.get(store)
  if (ofStore === undefined || ofStore.size > keptLookups) {
    ofStore = new Map()
    lookups.set(store, ofStore)
  }
  let ofSelector = ofStore.get(where)
  if (ofSelector === undefined || ofSelector.size > keptLookups) {
    ofSelector = new Map()
    ofStore.set(where, ofSelector)
  }
  let lookup = ofSelector.get(ownerNo)
  if (lookup === undefined) {
    lookup = new GroupedLookup(async (deviceIds) => {
      const found = await store.matchDevices({ ownerNo, where, deviceIds })
      return new Map(found.map((deviceId) => [deviceId, true]))
    })
    ofSelector.set(ownerNo, lookup)
  }
  return lookup
}
