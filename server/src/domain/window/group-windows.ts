// Which windows of groups apply to a device. A group is a selector, so membership changes with devices: it is computed when a
// device or group changes, never when work is offered.

import {
  type CompiledSelector,
  compileSelector,
  parseSelector,
  type SelectableDevice,
  termsOf,
} from '@jobcast/contract/selector'
import { type FindGroups, groupsOf, replaceGroups } from '../selector/replace-groups.ts'

export type GroupWindow = { groupName: string; windowName: string }
export type WindowedGroup = GroupWindow & { where: string }
/** `terms`: how many are compared for each device. */
export type JudgedGroup = GroupWindow & { matches: CompiledSelector; terms: number }

/** Leaves out groups whose selector names a group that no longer exists: they have no devices. */
export async function readGroupWindows(groups: WindowedGroup[], find: FindGroups): Promise<JudgedGroup[]> {
  const judged: JudgedGroup[] = []
  for (const { groupName, windowName, where } of groups) {
    const replaced = await replaceGroups(parseSelector(where), find)
    if (replaced.kind !== 'replaced') continue
    const { selector } = replaced
    judged.push({
      groupName,
      windowName,
      matches: compileSelector(selector),
      terms: termsOf(selector).length,
    })
  }
  return judged
}

/** Whether one of them refers to this group, directly or through others. The group need not exist. */
export async function refersTo(
  groupName: string,
  groups: Pick<WindowedGroup, 'where'>[],
  find: FindGroups,
): Promise<boolean> {
  const seen = new Set<string>()
  for (let found = groups; found.length > 0; ) {
    const named = new Set(found.flatMap(({ where }) => groupsOf(parseSelector(where))))
    if (named.has(groupName)) return true
    const fresh = [...named].filter((name) => !seen.has(name))
    for (const name of fresh) seen.add(name)
    found = fresh.length === 0 ? [] : await find(fresh)
  }
  return false
}

/** Work is offered only to devices that are online, so `online` counts as true. */
export function groupWindowsOf(device: SelectableDevice, groups: JudgedGroup[]): GroupWindow[] {
  const online = { ...device, online: true }
  return groups.flatMap(({ groupName, windowName, matches }) =>
    matches(online) ? [{ groupName, windowName }] : [],
  )
}
