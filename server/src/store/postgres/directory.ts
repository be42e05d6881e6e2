// The names of jobs and devices that triggers have used, by owner, so that they are not read again for each group. What is
// remembered may be old: each owner's names have a state (catalogue_state) that is compared in the transaction that uses
// them, and where it is another one by now, they are read anew. So nothing remembered decides anything on its own.

import { findDevices, type NamedDevice, type RunDevice } from '../../domain/trigger/launch-run.ts'
import type { RunJob, Trigger } from '../../domain/trigger/trigger.ts'

/** Of all owners together; about 30 MB. */
const mostNames = 200_000
/** What names more devices than this is rare, and would only push out the others. */
export const mostOfOne = 50_000

type KnownDevice = RunDevice & NamedDevice
export type OwnerNames = {
  readonly state: string
  readonly jobs: Map<string, RunJob>
  readonly devices: Map<string, KnownDevice>
}
export type Names = ReadonlyMap<number, OwnerNames>
/** `devices`: of each trigger. */
export type Recalled = { names: Names; devices: RunDevice[][] }

export class Directory {
  readonly #owners = new Map<number, OwnerNames>()
  readonly #most: number
  #size = 0

  constructor(most = mostNames) {
    this.#most = most
  }

  /** What these triggers name, if all of it is known. */
  lookUpCached(triggers: Trigger[]): Recalled | undefined {
    const names = new Map<number, OwnerNames>()
    const devices: RunDevice[][] = []
    for (const trigger of triggers) {
      const own = this.#owners.get(trigger.ownerNo)
      if (own === undefined || trigger.deviceIds.length > mostOfOne || !own.jobs.has(trigger.jobName))
        return undefined
      const found = findDevices(trigger, (deviceId) => own.devices.get(deviceId))
      if ('kind' in found) return undefined
      names.set(trigger.ownerNo, own)
      devices.push(found)
    }
    return { names, devices }
  }

  /** What was read in one state. */
  remember(found: Names): void {
    for (const [ownerNo, names] of found) {
      if (names.devices.size > mostOfOne) continue
      const before = this.#owners.get(ownerNo)
      if (before?.state !== names.state) {
        this.#evict(ownerNo)
        this.#owners.set(ownerNo, names)
        this.#size += sizeOf(names)
      } else {
        this.#size -= sizeOf(before)
        for (const [jobName, job] of names.jobs) before.jobs.set(jobName, job)
        for (const [deviceId, device] of names.devices) before.devices.set(deviceId, device)
        this.#size += sizeOf(before)
      }
    }
    // Rare: whatever is in use comes back with its next use.
    if (this.#size > this.#most) this.clear()
  }

  evict(ownerNos: Iterable<number>): void {
    for (const ownerNo of ownerNos) this.#evict(ownerNo)
  }

  clear(): void {
    this.#owners.clear()
    this.#size = 0
  }

  #evict(ownerNo: number): void {
    const names = this.#owners.get(ownerNo)
    if (names === undefined) return
    this.#owners.delete(ownerNo)
    this.#size -= sizeOf(names)
  }
}

function sizeOf({ jobs, devices }: OwnerNames): number {
  return 1 + jobs.size + devices.size
}
