// Why an execution waits for its window: when that opens, as the device's clocks show it and in UTC.

import { deviceZone } from '@jobcast/contract'
import { deviceZoneOf, zoneAttribute } from './device-zone.ts'
import { inWords } from './explain-end.ts'
import type { Explanation } from './explain-execution.ts'
import type { WallInstant } from './instants.ts'
import type { StoredDevice } from './ports/devices.ts'
import type { RunKey } from './ports/runs.ts'
import type { Store } from './ports/store.ts'
import type { StoredWindow } from './ports/windows.ts'
import { WindowTimes } from './window-times.ts'
import { toLocalText } from './zone-time.ts'

export type WindowReason = {
  window: StoredWindow
  /** Of the device. */
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
  const isZoneUnknown = (attributes[zoneAttribute] ?? reportedAttributes[zoneAttribute]) === undefined
  return { window, zone: deviceZoneOf(attributes, reportedAttributes), isZoneUnknown, now }
}

/** Undefined: it is open. */
export function explainWindow(
  deviceId: string,
  { window, zone, isZoneUnknown, now }: WindowReason,
): Explanation | undefined {
  const isOfDevice = window.timeZone === deviceZone
  const next = new WindowTimes(window, isOfDevice ? zone : window.timeZone).nextOffer(now)
  if (next && next.from <= now) return undefined
  const none = isOfDevice && isZoneUnknown ? ', as no zone is known of it' : ''
  const where = `where device ${deviceId} is (${zone}${none})`
  const when = next
    ? `opens at ${toLocalText(zone, next.from)} ${where}, ${inWords(next.from)}`
    : 'never opens again'
  return {
    code: 'OUTSIDE_WINDOW',
    text: `Window ${window.windowName} is closed; it ${when}.`,
    since: null,
    until: next?.from ?? null,
    behind: null,
  }
}
