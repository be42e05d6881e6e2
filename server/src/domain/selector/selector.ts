// A selector: a condition on devices, as text (`region=eu and not online`). A group is a selector with a name, which
// others may contain. The language is in contract/src/selector/; this file reads selectors of callers, and
// has the owner's operations on groups.
//
// Read next: replace-groups.ts, which replaces groups by their selectors; select-devices.ts, the devices that
// match, for a run.

import { ApiError, type DeviceCount, type GroupContent, groups } from '@jobcast/contract'
import { parseSelector, type Selector, SelectorError } from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { withinReach } from '../access/device-reach.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { overQuota, type Quotas, tooMany } from '../access/quotas.ts'
import { isConfinedToDevices } from '../access/restriction.ts'
import { originOf } from '../audit/audit.ts'
import type { Expectation } from '../common/entity-tag.ts'
import { usersText } from '../common/in-use.ts'
import { notExpected, notFound } from '../common/not-found.ts'
import type { Put } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { type PresenceView, settled } from '../device/device.ts'
import { type DeviceWindowsDeps, settleGroups, windowsApply } from '../window/device-windows.ts'
import { noWindow } from '../window/window.ts'
import type { GroupProblem, GroupUsers, StoredGroup } from './ports/groups.ts'
import { maxDepthOfGroups, maxTermsOfGroups, maxValuesOfGroups, replaceGroups } from './replace-groups.ts'

type SelectorDeps = { store: Store; presence: PresenceView; now: () => number }
export type GroupDeps = SelectorDeps & DeviceWindowsDeps & { quotas: Quotas }

const windowQuota = 'window-groups'

/** Replaces groups and restricts the selector to devices that the caller can see. Throws J-503 and J-309. */
export async function readSelector(
  { store }: { store: Pick<Store, 'findGroups'> },
  caller: Pick<Caller, 'ownerNo' | 'restriction'>,
  text: string,
  field = 'where',
): Promise<Selector> {
  const { ownerNo } = caller
  const parsed = parse(text, field)
  const replaced = await replaceGroups(parsed, (groupNames) => store.findGroups({ ownerNo, groupNames }))
  if (replaced.kind !== 'replaced') throw toError(replaced, field)
  return withinReach(caller, replaced.selector)
}

export async function countDevices(deps: SelectorDeps, caller: Caller, text: string): Promise<DeviceCount> {
  const where = await readSelector(deps, caller, text)
  await settled(deps.presence)
  const count = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
  // Unknown names are determined over all devices, so a confined caller does not get them.
  return isConfinedToDevices(caller) ? { ...count, unknownNames: [] } : count
}

export async function putGroup(
  deps: GroupDeps,
  caller: Caller,
  groupName: string,
  { where, description, window = null }: GroupContent,
  before: Expectation = {},
): Promise<Put<StoredGroup>> {
  const { store, now } = deps
  parse(where)
  const principal = principalOf(caller)
  const by = { principal, lineage: await lineageOf(store, principal), at: now(), ...originOf(caller) }
  const group = { ownerNo: caller.ownerNo, groupName, where, description: description ?? null, window }
  const mostWithWindow = deps.quotas[windowQuota]
  const outcome = await store.putGroup({ ...group, ...by, most: groups.quota, mostWithWindow, ...before })
  if (outcome.kind === 'not-expected') throw notExpected(groups, groupName, before)
  if (outcome.kind === 'refused') throw toError(outcome.problem)
  if (outcome.kind === 'unknown-window') throw noWindow(window ?? '')
  if (outcome.kind === 'too-many') throw tooMany(groups)
  if (outcome.kind === 'too-many-with-window') throw overQuota(windowQuota, mostWithWindow)
  await settleGroups(deps, caller.ownerNo)
  if (window !== null) await windowsApply(deps, caller.ownerNo)
  return { created: outcome.created, value: outcome.value }
}

export async function getGroup(
  { store }: SelectorDeps,
  { ownerNo }: Caller,
  groupName: string,
): Promise<StoredGroup> {
  const group = await store.getGroup({ ownerNo, groupName })
  if (group === undefined) throw notFound('J-309', groupName)
  return group
}

export async function deleteGroup(
  deps: GroupDeps,
  caller: Caller,
  groupName: string,
  { force = false }: { force?: boolean | undefined } = {},
): Promise<void> {
  const { ownerNo } = caller
  const by = { principal: principalOf(caller), at: deps.now(), ...originOf(caller) }
  const outcome = await deps.store.deleteGroup({ ownerNo, groupName, ...by, unlessUsed: !force })
  if (outcome === 'unknown') throw notFound('J-309', groupName)
  if (outcome !== 'deleted') throw inUse(outcome)
  await settleGroups(deps, ownerNo)
}

function inUse({ groupNames, jobNames, scheduleNames, runIds }: GroupUsers): ApiError {
  const named = { group: groupNames, job: jobNames, schedule: scheduleNames, 'unfinished run': runIds }
  return new ApiError('J-315', { suffix: usersText(named) })
}

function parse(text: string, field = 'where'): Selector {
  try {
    return parseSelector(text)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    const { position, message } = error
    throw new ApiError('J-503', { suffix: `at position ${position}: ${message}`, field, position })
  }
}

function toError(problem: GroupProblem, field = 'where'): ApiError {
  switch (problem.kind) {
    case 'unknown-group':
      return new ApiError('J-309', {
        detail: `There is no group ${JSON.stringify(problem.groupName)}.`,
        field,
      })
    case 'refers-to-itself':
      return new ApiError('J-503', {
        suffix: `the group ${JSON.stringify(problem.groupName)} refers to itself`,
        field,
      })
    case 'too-large':
      return new ApiError('J-503', {
        suffix: `it has more than ${maxTermsOfGroups} terms together with its groups`,
        field,
      })
    case 'too-many-values':
      return new ApiError('J-503', {
        suffix: `it has more than ${maxValuesOfGroups} values together with its groups`,
        field,
      })
    case 'too-deep':
      return new ApiError('J-503', {
        suffix: `it is nested deeper than ${maxDepthOfGroups} levels together with its groups`,
        field,
      })
  }
}
