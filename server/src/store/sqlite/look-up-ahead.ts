// The devices of a large trigger are looked up in slices, between which others have their turn. What is found holds as long
// as no device of the owner has come, gone or been renamed meanwhile; otherwise all are looked up again, at once.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import { largeTrigger } from './large-trigger.ts'

const sliceSize = 2500

/** By the position in the list of the trigger. */
export type FoundAhead = { devices: (DeviceRef | undefined)[]; changes: number }

/** Undefined if there are few. */
export function lookUpAhead(catalogue: Catalogue, triggers: Trigger[]): Promise<FoundAhead> | undefined {
  const [trigger] = triggers
  const isLarge = triggers.length === 1 && trigger && trigger.deviceIds.length >= largeTrigger
  return isLarge ? lookUp(catalogue, trigger) : undefined
}

async function lookUp(catalogue: Catalogue, { ownerNo, deviceIds }: Trigger): Promise<FoundAhead> {
  const known = catalogue.devices(ownerNo)
  const { changes } = known
  const devices: (DeviceRef | undefined)[] = []
  await nextTurn()
  while (devices.length < deviceIds.length && known.changes === changes) {
    const end = Math.min(devices.length + sliceSize, deviceIds.length)
    for (let at = devices.length; at < end; at++) devices.push(known.get(deviceIds[at] as string))
    await nextTurn()
  }
  return { devices, changes }
}
