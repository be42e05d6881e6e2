// A cache of the names of jobs and devices that triggers have used, by owner, so that they are not read again for each group.
// Entries may be outdated: each owner's names have a state (catalogue_state) that is compared in the transaction that uses
// them, and if it has changed, they are read again. So the cache never decides anything on its own.

import { findDevices, type NamedDevice, type RunDevice } from '../../domain/trigger/launch-run.ts'
import type { RunJob, Trigger } from '../../domain/trigger/trigger.ts'

/** Total for all owners; about 30 MB. */
const mostNames = 200_000
/** Triggers with more devices are rare, and would only displace other entries. */
export const mostOfOne = 50_000

type KnownDevice = RunDevice & NamedDevice
export type OwnerNames = {
  readonly state: string
  readonly jobs: Map<string, RunJob>
  readonly devices: Map<string, KnownDevice>
}
export type Names = ReadonlyMap<number, OwnerNames>
/** `devices`: those of each trigger. */
export type CachedTriggers = { names: Names; devices: RunDevice[][] }

export class Directory {
  readonly #owners = new Map<number, OwnerNames>()
  readonly #most: number
  #size = 0

  constructor(most = mostNames) {
    this.#most = most
  }

  /** The names in these triggers, if all of them are cached. */
  lookUpCached(triggers: Trigger[]): CachedTriggers | undefined {
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

  /** Caches names that were read in one state. */
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
    // Rare, and active entries return with their next use.
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
