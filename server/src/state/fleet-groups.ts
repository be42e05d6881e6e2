// How many devices of each tag are in which state. All devices of an owner are read for it, a page at a time, so the
// answer is used again for a while: the longer it took, the longer.

import type { ExecState } from '@jobcast/contract'
import type { Store } from '../domain/common/ports/store.ts'
import type { StoredFleetDevice } from '../domain/device/ports/fleet.ts'
import { shownExecution } from '../domain/device/shown-execution.ts'

type GroupsStore = Pick<Store, 'listFleetDevices'>

const pageSize = 10_000
/** At most a twentieth of the time goes into reading. */
const idleShare = 19
const minAgeMs = 1000

/** What a device does, or how its last execution ended; NONE: it never had one. */
type DeviceState = ExecState | 'NONE'
/** `tag` null: devices without any. */
export type FleetGroup = {
  tag: string | null
  devices: number
  online: number
  states: Map<DeviceState, number>
}
export type FleetGroups = { at: number; all: FleetGroup; groups: FleetGroup[] }

type Kept = { groups: Promise<FleetGroups>; until: number }

export class FleetGroupsReader {
  readonly #store: GroupsStore
  readonly #now: () => number
  readonly #elapsed: () => number
  readonly #owners = new Map<number, Kept>()

  constructor({ store, now, elapsed }: { store: GroupsStore; now: () => number; elapsed: () => number }) {
    this.#store = store
    this.#now = now
    this.#elapsed = elapsed
  }

  read(ownerNo: number): Promise<FleetGroups> {
    const kept = this.#owners.get(ownerNo)
    if (kept && this.#elapsed() < kept.until) return kept.groups
    const startedAt = this.#elapsed()
    const groups = this.#count(ownerNo)
    const reading: Kept = { groups, until: Number.POSITIVE_INFINITY }
    this.#owners.set(ownerNo, reading)
    groups.then(
      () => {
        const took = this.#elapsed() - startedAt
        reading.until = this.#elapsed() + Math.max(minAgeMs, took * idleShare)
      },
      () => this.#owners.delete(ownerNo),
    )
    return groups
  }

  async #count(ownerNo: number): Promise<FleetGroups> {
    const at = this.#now()
    const all = emptyGroup(null)
    const byTag = new Map<string | null, FleetGroup>()
    let after: string | undefined
    do {
      const page = await this.#store.listFleetDevices({ ownerNo, slice: { after, limit: pageSize } })
      for (const device of page.items) {
        addTo(all, device)
        for (const tag of device.tags.length === 0 ? [null] : device.tags) {
          const group = byTag.get(tag) ?? emptyGroup(tag)
          byTag.set(tag, group)
          addTo(group, device)
        }
      }
      after = page.next
    } while (after !== undefined)
    return { at, all, groups: [...byTag.values()].sort((one, other) => other.devices - one.devices) }
  }
}

function emptyGroup(tag: string | null): FleetGroup {
  return { tag, devices: 0, online: 0, states: new Map() }
}

function addTo(group: FleetGroup, { online, ...device }: StoredFleetDevice): void {
  const state = shownExecution(device)?.execState ?? 'NONE'
  group.devices += 1
  if (online) group.online += 1
  group.states.set(state, (group.states.get(state) ?? 0) + 1)
}
