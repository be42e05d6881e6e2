// Why an execution waits for its window: when that opens, as the device's clocks show it and in UTC.

import { deviceZone } from '@jobcast/contract'
import type { WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredDevice } from '../device/ports/devices.ts'
import { inWords } from '../execution/explain-end.ts'
import type { Explanation } from '../execution/explanation.ts'
import type { RunKey } from '../trigger/ports/runs.ts'
import { zoneAsWritten, zoneAttribute } from './device-zone.ts'
import type { StoredWindow } from './ports/windows.ts'
import { WindowTimes } from './window-times.ts'
import { toLocalText } from './zone-time.ts'

export type WindowReason = {
  window: StoredWindow
  /** Of the device, as its owner or the device writes it. */
  zone: string
  /** Neither its owner nor the device says a zone. */
  isZoneUnknown: boolean
  now: WallInstant
}

/** Undefined: its run is under no window. */
export async function readWindowReason(
  store: Pick<Store, 'getRun' | 'getWindow'>,
  run: RunKey,
  device: Pick<StoredDevice, 'attributes' | 'reportedAttributes'> | undefined,
  now: WallInstant,
): Promise<WindowReason | undefined> {
  const windowName = (await store.getRun(run))?.window
  if (!windowName) return undefined
  const window = await store.getWindow({ ownerNo: run.ownerNo, windowName })
  if (window === undefined) return undefined
  const { attributes = {}, reportedAttributes = {} } = device ?? {}
  const given = attributes[zoneAttribute] ?? reportedAttributes[zoneAttribute]
  return { window, zone: zoneAsWritten(given), isZoneUnknown: given === undefined, now }
}

/** Undefined: it offers. */
export function explainWindow(
  deviceId: string,
  { window, zone, isZoneUnknown, now }: WindowReason,
): Explanation | undefined {
  const isOfDevice = window.timeZone === deviceZone
  const times = new WindowTimes(window, isOfDevice ? zone : window.timeZone)
  const next = times.nextOffer(now)
  if (next && next.from <= now) return undefined
  const isOpen = (times.opening(now)?.from ?? Infinity) <= now
  const none = isOfDevice && isZoneUnknown ? ', because it has no time zone' : ''
  const where = `where device ${deviceId} is (${zone}${none})`
  const opens = isOpen ? 'opens next' : 'opens'
  const when = next
    ? `${opens} at ${toLocalText(zone, next.from)} ${where}, ${inWords(next.from)}`
    : 'never opens again'
  const state = isOpen ? 'is in its cutoff: it offers nothing new before it closes' : 'is closed'
  return {
    code: 'OUTSIDE_WINDOW',
    text: `Window ${window.windowName} ${state}; it ${when}.`,
    since: null,
    until: next?.from ?? null,
    behind: null,
  }
}
