// The selectors of a rollout: of its waves, and of its gates.

import { ApiError, type Rollout, rolloutProblem } from '@jobcast/contract'
import {
  asReported,
  attributeNamesOf,
  attributeOf,
  parseSelector,
  type Selector,
} from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { isConfinedToDevices } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredGroup } from '../selector/ports/groups.ts'
import { replaceGroups } from '../selector/replace-groups.ts'
import { readSelector } from '../selector/selector.ts'
import type { RunPart } from './ports/rollouts.ts'

type SelectorStore = { store: Pick<Store, 'matchDevices' | 'countConfirmed'> & Store }

type GateCaller = Pick<Caller, 'ownerNo' | 'restriction'>

const gateField = 'rollout.next.where'
/** Devices per query. */
const namedAtOnce = 5000

/** Throws J-500, J-503 and J-309. */
export async function requireRollout(
  deps: { store: Store },
  caller: GateCaller,
  rollout: Rollout,
): Promise<void> {
  await requireSelectors(deps, caller, rollout)
  await requireGate(deps, caller, rollout)
}

/** Refuses a gate on an attribute that no device reports: it would never open. Throws J-500, J-503 and J-309. */
export async function requireGate(
  deps: { store: Store },
  caller: GateCaller,
  rollout: Rollout,
): Promise<void> {
  const [problem] = await findGateProblems(deps, caller, rollout)
  if (problem === undefined) return
  const detail = `${problem} rollout.next.onMissing "WAIT" waits until one does.`
  throw new ApiError('J-500', { field: gateField, detail })
}

/** Why the gate would never open, in sentences. Throws J-500, J-503 and J-309. */
export async function findGateProblems(
  deps: { store: Store },
  { ownerNo, ...caller }: GateCaller,
  { next }: Rollout,
): Promise<string[]> {
  if (next?.where === undefined || next.onMissing === 'WAIT') return []
  // The gate covers all devices; a caller confined to some must not learn what the others report.
  const isShown = !isConfinedToDevices(caller)
  const names = attributeNamesOf(await readGate(deps, ownerNo, next.where))
  const unknown = isShown ? await deps.store.findUnknownNames({ ownerNo, names }) : []
  return unknown.map((name) => `No device reports ${attributeOf(name).name}, which ${gateField} names.`)
}

/** Bare names mean reported attributes; attributes set by the owner are refused. */
async function readGate(deps: { store: Store }, ownerNo: number, where: string): Promise<Selector> {
  const selector = asReported(await readSelector(deps, { ownerNo }, where, gateField))
  const own = attributeNamesOf(selector).find((name) => attributeOf(name).side === 'own')
  if (own === undefined) return selector
  const detail = `${gateField} is judged by what devices report; ${own} is set by their owner.`
  throw new ApiError('J-500', { field: gateField, detail })
}

/** Throws J-500, J-503 and J-309. */
export async function requireSelectors(
  deps: { store: Store },
  { ownerNo }: { ownerNo: number },
  rollout: Rollout,
): Promise<void> {
  const problem = rolloutProblem(rollout)
  if (problem) throw new ApiError('J-500', problem)
  const wheres = (rollout.waves ?? []).map(({ where }, index) => ({
    where,
    field: `rollout.waves[${index}].where`,
  }))
  const checked = new Set<string>()
  for (const { where, field } of wheres) {
    if (where === undefined || checked.has(where)) continue
    checked.add(where)
    await readSelector(deps, { ownerNo }, where, field)
  }
  if (rollout.next?.where !== undefined) await readGate(deps, ownerNo, rollout.next.where)
}

export async function matchDevices(
  deps: SelectorStore,
  ownerNo: number,
  where: string,
  deviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const selector = await readSelector(deps, { ownerNo }, where)
  const found = new Set<string>()
  for (let start = 0; start < deviceIds.length; start += namedAtOnce) {
    const named = deviceIds.slice(start, start + namedAtOnce)
    const matching = await deps.store.matchDevices({ ownerNo, where: selector, deviceIds: named })
    for (const deviceId of matching) found.add(deviceId)
  }
  return found
}

/** A gate whose group was deleted confirms no device. */
export async function countConfirmed(
  deps: SelectorStore,
  { where, ...part }: RunPart & { where: string },
): Promise<number> {
  try {
    const selector = await readGate(deps, part.ownerNo, where)
    return await deps.store.countConfirmed({ ...part, where: selector })
  } catch (error) {
    if (error instanceof ApiError) return 0
    throw error
  }
}

/** The existing groups that the gate refers to, directly or through other groups, sorted by name. */
export async function groupsOfGate(
  { store }: { store: Pick<Store, 'findGroups'> },
  ownerNo: number,
  { next }: Rollout,
): Promise<StoredGroup[]> {
  if (next?.where === undefined) return []
  const groups: StoredGroup[] = []
  await replaceGroups(parseSelector(next.where), async (groupNames) => {
    const found = await store.findGroups({ ownerNo, groupNames })
    groups.push(...found)
    return found
  })
  return groups.sort((one, other) => (one.groupName < other.groupName ? -1 : 1))
}
