// Counts devices by state for each tag, group or value of an attribute. A count reads all devices of an owner, page by page.

import { ApiError, type ExecState } from '@jobcast/contract'
import type { Caller } from '../domain/access/caller.ts'
import { isConfinedToDevices } from '../domain/access/restriction.ts'
import { type ListFleetStore, listFleet } from '../domain/device/list-fleet.ts'
import type { StoredFleetDevice } from '../domain/device/ports/fleet.ts'
import { shownExecution } from '../domain/device/shown-execution.ts'
import type { CachedCounts } from './cached-counts.ts'
import { type LabelStore, labelsBy } from './fleet-labels.ts'

type GroupsStore = ListFleetStore & LabelStore
type Reaching = Pick<Caller, 'ownerNo' | 'restriction'>

const pageSize = 10_000
/** Further groups are counted in `total` only: an attribute may have a distinct value per device. */
const maxGroups = 1000

/** State of the device's current or last execution; NONE: it never had one. */
type DeviceState = ExecState | 'NONE'
/** `value` null: devices without a value. */
export type FleetGroup = {
  value: string | null
  devices: number
  online: number
  states: Map<DeviceState, number>
}
export type FleetGroups = { at: number; all: FleetGroup; groups: FleetGroup[]; total: number }

export class FleetGroupsReader {
  readonly #store: GroupsStore
  readonly #now: () => number
  readonly #counts: CachedCounts

  constructor({ store, now, counts }: { store: GroupsStore; now: () => number; counts: CachedCounts }) {
    this.#store = store
    this.#now = now
    this.#counts = counts
  }

  /** `by`: tag, group, or the name of an attribute. A caller restricted to devices counts these, but not by groups. */
  read(caller: Reaching, by: string): Promise<FleetGroups> {
    const { ownerNo, restriction } = caller
    if (by === 'group' && isConfinedToDevices(caller)) return Promise.reject(new ApiError('J-814'))
    const question = ['groups', by, restriction?.where ?? null]
    return this.#counts.read(ownerNo, question, () => this.#count(caller, by))
  }

  async #count(caller: Reaching, by: string): Promise<FleetGroups> {
    const at = this.#now()
    const all = emptyGroup(null)
    const found = new Map<string | null, FleetGroup>()
    const labelsOf = await labelsBy(this.#store, caller.ownerNo, by)
    let after: string | undefined
    do {
      const page = await listFleet(this.#store, caller, { after, limit: pageSize })
      const labels = await labelsOf(page.items)
      for (const device of page.items) {
        addTo(all, device)
        const own = labels.get(device.deviceId) ?? []
        for (const value of own.length === 0 ? [null] : own) {
          const group = found.get(value) ?? emptyGroup(value)
          found.set(value, group)
          addTo(group, device)
        }
      }
      after = page.next
    } while (after !== undefined)
    const groups = [...found.values()].sort((one, other) => other.devices - one.devices)
    return { at, all, groups: groups.slice(0, maxGroups), total: groups.length }
  }
}

function emptyGroup(value: string | null): FleetGroup {
  return { value, devices: 0, online: 0, states: new Map() }
}

function addTo(group: FleetGroup, { online, ...device }: StoredFleetDevice): void {
  const state = shownExecution(device)?.execState ?? 'NONE'
  group.devices += 1
  if (online) group.online += 1
  group.states.set(state, (group.states.get(state) ?? 0) + 1)
}
