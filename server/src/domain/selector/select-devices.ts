// The devices that a new run targets: those of a list, or those that a selector matches now.

import { createHash } from 'node:crypto'
import { ApiError, type Targets } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { isConfinedToDevices } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import { type PresenceView, settled } from '../device/device.ts'
import { requireDevices } from '../trigger/require-devices.ts'
import { readSelector } from './selector.ts'

export type SelectDeps = { store: Store; presence: PresenceView }

/** The maximum number of devices that a selector may match. */
export const maxSelected = 1_000_000
/** Devices per read. */
const pageSize = 10_000
/** Ids are kept in memory only up to the number that one write can launch. */
export const launchedAtOnce = 10_000
/** The number of devices shown before a run is created. */
export const sampleSize = 20

export type Selected = {
  total: number
  /** The store's device numbers, in the order of the device ids. */
  deviceNos: Int32Array
  /** Undefined above `launchedAtOnce`. */
  deviceIds: string[] | undefined
  sample: string[]
}

/** The selector that is stored with the run; undefined for a list. */
export function whereOf({ where, group }: Targets): string | undefined {
  return group === undefined ? where : `group=${JSON.stringify(group)}`
}

export async function selectDevices(
  deps: SelectDeps,
  { ownerNo }: Caller,
  where: Selector,
): Promise<Selected> {
  await settled(deps.presence)
  const gathered = new Gathered()
  for (let after: string | undefined; ; ) {
    const slice = { after, limit: pageSize }
    const { items, next } = await deps.store.selectDevices({ ownerNo, where, slice })
    for (const device of items) gathered.add(device)
    if (next === undefined) return gathered.end()
    after = next
  }
}

/** `matched`: only for selectors. For a list that was not looked up, neither the devices nor their number are known. */
export type TargetedDevices = Pick<Selected, 'deviceNos' | 'deviceIds'> & {
  matched: number | null
  where: string | null
}

/** Throws J-001, J-503, J-309, and J-504 if the selector matches no device. */
export async function devicesForRun(
  deps: SelectDeps,
  caller: Caller,
  targets: Targets,
): Promise<TargetedDevices> {
  const where = whereOf(targets)
  if (where === undefined) {
    const deviceIds = targets.deviceIds ?? []
    await requireDevices(deps, caller, deviceIds)
    return { deviceIds, deviceNos: new Int32Array(), where: null, matched: null }
  }
  const selector = await readTargets(deps, caller, where)
  const { total, ...selected } = await selectDevices(deps, caller, selector)
  if (total === 0) throw await noDevices(deps, caller, selector)
  return { ...selected, where, matched: total }
}

/** With the names that no device of the owner has, which a confined caller must not learn. */
async function noDevices({ store }: SelectDeps, caller: Caller, where: Selector): Promise<ApiError> {
  if (isConfinedToDevices(caller)) return new ApiError('J-504')
  const { unknownNames } = await store.countDevices({ ownerNo: caller.ownerNo, where })
  if (unknownNames.length === 0) return new ApiError('J-504')
  return new ApiError('J-504', {
    detail: unknownNames.map((name) => `No device has an attribute ${name}.`).join(' '),
  })
}

/** Throws J-503 and J-309. */
export function readTargets(deps: SelectDeps, caller: Caller, where: string): Promise<Selector> {
  return readSelector(deps, caller, where)
}

export function digestOf(texts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text}\0`)
  return hash.digest('base64url')
}

class Gathered {
  readonly #ids: string[] = []
  #numbers = new Int32Array(1024)
  #total = 0

  add({ deviceNo, deviceId }: { deviceNo: number; deviceId: string }): void {
    if (this.#total === maxSelected) {
      throw new ApiError('J-500', {
        field: 'targets',
        detail: `A selector may match at most ${maxSelected} devices.`,
      })
    }
    if (this.#total === this.#numbers.length) {
      const larger = new Int32Array(this.#numbers.length * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#total++] = deviceNo
    if (this.#total <= launchedAtOnce) this.#ids.push(deviceId)
  }

  end(): Selected {
    return {
      total: this.#total,
      deviceNos: this.#numbers.slice(0, this.#total),
      deviceIds: this.#total <= launchedAtOnce ? this.#ids : undefined,
      sample: this.#ids.slice(0, sampleSize),
    }
  }
}
