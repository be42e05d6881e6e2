// The labels that devices are counted by: their tags, their groups, or the value of an attribute.

import { ApiError } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { Store } from '../domain/common/ports/store.ts'
import type { StoredFleetDevice } from '../domain/device/ports/fleet.ts'
import { readSelector } from '../domain/selector/selector.ts'

export type LabelStore = Pick<Store, 'listDeviceValues' | 'listGroups' | 'findGroups' | 'selectDevices'>
/** By deviceId; devices without labels are omitted. */
type Labels = ReadonlyMap<string, readonly string[]>

const pageSize = 10_000
/** The devices of each of these groups are read. */
const maxCountedGroups = 100

export async function labelsBy(
  store: LabelStore,
  ownerNo: number,
  by: string,
): Promise<(devices: StoredFleetDevice[]) => Promise<Labels>> {
  if (by === 'tag') return async (devices) => new Map(devices.map(({ deviceId, tags }) => [deviceId, tags]))
  if (by === 'group') {
    const labels = await groupsOfDevices(store, ownerNo)
    return async () => labels
  }
  return async (devices) => {
    const deviceIds = devices.map(({ deviceId }) => deviceId)
    const found = await store.listDeviceValues({ ownerNo, deviceIds, names: [by] })
    return new Map(
      found.flatMap(({ deviceId, attributes }) =>
        Object.hasOwn(attributes, by) ? [[deviceId, [String(attributes[by])]]] : [],
      ),
    )
  }
}

/** Covers the first groups by name. */
async function groupsOfDevices(store: LabelStore, ownerNo: number): Promise<Labels> {
  const labels = new Map<string, string[]>()
  const slice = { after: undefined, limit: maxCountedGroups }
  for (const { groupName } of (await store.listGroups({ ownerNo, slice })).items) {
    const where = await readGroup(store, ownerNo, groupName)
    if (where === undefined) continue
    for (let after: string | undefined; ; ) {
      const page = await store.selectDevices({ ownerNo, where, slice: { after, limit: pageSize } })
      for (const { deviceId } of page.items) {
        const own = labels.get(deviceId)
        if (own) own.push(groupName)
        else labels.set(deviceId, [groupName])
      }
      if (page.next === undefined) break
      after = page.next
    }
  }
  return labels
}

/** Undefined: the group selects no devices, because a group that it refers to was deleted or has become too large. */
async function readGroup(
  store: LabelStore,
  ownerNo: number,
  groupName: string,
): Promise<Selector | undefined> {
  try {
    return await readSelector({ store }, { ownerNo }, `group=${JSON.stringify(groupName)}`)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
