// Why an execution waits for windows: which of them are closed, and when they open, in the device's local time and in UTC.

import { deviceZone } from '@jobcast/contract'
import { toLocalText } from '@jobcast/contract/cron'
import type { WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredDevice } from '../device/ports/devices.ts'
import { inWords } from '../execution/explain-end.ts'
import type { Explanation } from '../execution/explanation.ts'
import type { RunKey } from '../trigger/ports/runs.ts'
import { zoneAsWritten, zoneAttribute } from './device-zone.ts'
import { offeredFor } from './offered-for.ts'
import type { StoredWindow } from './ports/windows.ts'
import { WindowTimes } from './window-times.ts'

/** `of`: where the window comes from if not from the run, such as "of group kiosks". */
type AppliedWindow = { window: StoredWindow; of?: string | undefined }

export type WindowReason = {
  windows: AppliedWindow[]
  /** The device's zone, as written by its owner or reported by the device. */
  zone: string
  /** Neither its owner nor the device has set a zone. */
  isZoneUnknown: boolean
  now: WallInstant
}

type Device = Pick<StoredDevice, 'deviceId' | 'attributes' | 'reportedAttributes'>

/** Undefined: no window applies. */
export async function readWindowReason(
  store: Pick<Store, 'getRun' | 'getWindow' | 'listDeviceWindows'>,
  run: RunKey,
  device: Device | undefined,
  now: WallInstant,
): Promise<WindowReason | undefined> {
  const found = await store.getRun(run)
  const names = new Map<string, string | undefined>()
  if (found?.window) names.set(found.window, undefined)
  if (device && !found?.ignoresWindows) {
    const ofDevice = await store.listDeviceWindows({ ownerNo: run.ownerNo, deviceIds: [device.deviceId] })
    for (const { windowName, groupName } of ofDevice) {
      const of = groupName === null ? 'of the device' : `of group ${groupName}`
      if (!names.has(windowName)) names.set(windowName, of)
    }
  }
  const windows: AppliedWindow[] = []
  for (const [windowName, of] of names) {
    const window = await store.getWindow({ ownerNo: run.ownerNo, windowName })
    if (window) windows.push({ window, of })
  }
  if (windows.length === 0) return undefined
  const { attributes = {}, reportedAttributes = {} } = device ?? {}
  const given = attributes[zoneAttribute] ?? reportedAttributes[zoneAttribute]
  return { windows, zone: zoneAsWritten(given), isZoneUnknown: given === undefined, now }
}

/** How many windows are named; the others are counted. */
const mostNamed = 5

/** Undefined: all windows are open. */
export function explainWindow(deviceId: string, reason: WindowReason): Explanation | undefined {
  const { windows, zone, now } = reason
  const all = windows.map((applied) => ({ applied, times: timesOf(applied.window, zone) }))
  const closed = all.filter(({ times }) => !isOffering(times, now))
  if (closed.length === 0) return undefined
  const texts = closed.map(({ applied, times }) => explainOne(deviceId, applied, times, reason))
  const more = texts.length > mostNamed ? [`${texts.length - mostNamed} more windows are closed.`] : []
  const until = allOpenAt(
    all.map(({ times }) => times),
    now,
  )
  const isFirst = closed.length === 1 && until === closed[0]?.times.nextOffer(now)?.from
  const together =
    all.length === 1 || isFirst
      ? []
      : [until === null ? 'They are never open together.' : `All of them are open from ${inWords(until)} on.`]
  return {
    code: 'OUTSIDE_WINDOW',
    text: [...texts.slice(0, mostNamed), ...more, ...together].join(' '),
    since: null,
    until,
    behind: null,
  }
}

function timesOf(window: StoredWindow, zone: string): WindowTimes {
  return new WindowTimes(window, window.timeZone === deviceZone ? zone : window.timeZone)
}

function isOffering(times: WindowTimes, now: WallInstant): boolean {
  return (times.nextOffer(now)?.from ?? Infinity) <= now
}

/** When all of them are open; null: never, or unknown. */
function allOpenAt(times: WindowTimes[], now: WallInstant): WallInstant | null {
  return offeredFor(times, 0, now) ?? null
}

function explainOne(
  deviceId: string,
  { window, of }: AppliedWindow,
  times: WindowTimes,
  { zone, isZoneUnknown, now }: WindowReason,
): string {
  const isOfDevice = window.timeZone === deviceZone
  const next = times.nextOffer(now)
  const isOpen = (times.opening(now)?.from ?? Infinity) <= now
  const none = isOfDevice && isZoneUnknown ? ', because it has no time zone' : ''
  const where = `where device ${deviceId} is (${zone}${none})`
  const opens = isOpen ? 'opens next' : 'opens'
  const when = next
    ? `${opens} at ${toLocalText(zone, next.from)} ${where}, ${inWords(next.from)}`
    : 'never opens again'
  const state = isOpen ? 'is in its cutoff: it offers nothing new before it closes' : 'is closed'
  const name = of === undefined ? window.windowName : `${window.windowName} ${of}`
  return `Window ${name} ${state}; it ${when}.`
}
