// Updates the stored record of which windows are open: each minute, and when a window or the time zones of devices change. Every
// node does so; the record is shared, and each node notifies its own devices when a window opens.

import type { BothClocks } from '../domain/common/instants.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { JudgedZones } from '../domain/window/judge-windows.ts'
import { newlyOpen } from '../domain/window/open-zones.ts'
import type { JudgedWindow, WindowKey } from '../domain/window/ports/windows.ts'

/** `zones`: the time zones in which it has opened; undefined: it has opened for all devices. */
export type OpenedWindow = WindowKey & { zones: string[] | undefined }

type OpenWindowsDeps = {
  store: Pick<Store, 'listAllWindows' | 'listZones' | 'fillZones' | 'setOpenZones' | 'sweepGroups'>
  now: () => number
  moment: () => BothClocks
}

type Known = { version: number; openZones: string; judged: JudgedZones }

const minuteMs = 60_000
/** Maximum delay until a window changed by another node is read if its hint was lost, and until a new zone is read. */
const readEveryMs = 1000
/** Batches of devices swept before windows are judged again. */
const sweptAtOnce = 20

export class OpenWindows {
  readonly #deps: OpenWindowsDeps
  #known = new Map<string, Known>()
  #minute = Number.NaN
  #readAt = Number.NEGATIVE_INFINITY
  #areZonesFilled = false
  /** Owners with windows that apply to devices. */
  #owners: ReadonlySet<number> = new Set()
  #refreshing: Promise<void> = Promise.resolve()
  /** Called after windows have opened and the change is on disk. */
  onOpened: (opened: OpenedWindow[]) => void = () => undefined
  /** In a cluster: tells the other nodes. */
  forward: () => void = () => undefined

  constructor(deps: OpenWindowsDeps) {
    this.#deps = deps
  }

  /** Whether devices of this owner have windows, of their own or of groups. */
  applyToDevices(ownerNo: number): boolean {
    return this.#owners.has(ownerNo)
  }

  /** Call several times a second. */
  async tick(): Promise<void> {
    const now = this.#deps.now()
    const isNewMinute = Math.floor(now / minuteMs) !== this.#minute
    if (isNewMinute || Math.abs(now - this.#readAt) >= readEveryMs) await this.refresh()
  }

  /** Call after a change on this node. */
  async changed(): Promise<void> {
    this.forward()
    await this.refresh()
  }

  /** Refreshes run in sequence, so that an older read is never written after a newer one. */
  refresh(): Promise<void> {
    const refreshing = this.#refreshing.then(() => this.#refresh())
    this.#refreshing = refreshing.catch(() => undefined)
    return refreshing
  }

  async #refresh(): Promise<void> {
    const { store } = this.#deps
    if (!this.#areZonesFilled) this.#areZonesFilled = !(await store.fillZones())
    await this.#sweepGroups()
    const windows = await store.listAllWindows()
    const zonesOf = await this.#readZones(windows)
    const now = this.#deps.now()
    const before = this.#known
    const known = new Map<string, Known>()
    const changes: JudgedWindow[] = []
    for (const window of windows) {
      const key = `${window.ownerNo} ${window.windowName}`
      const earlier = before.get(key)
      const judged = earlier?.version === window.version ? earlier.judged : new JudgedZones(window)
      const openZones = await judged.judge(zonesOf.get(window.ownerNo) ?? [], now)
      known.set(key, { version: window.version, openZones, judged })
      if (openZones !== window.openZones) changes.push({ ...window, openZones })
    }
    if (changes.length > 0) {
      const { at, clock } = this.#deps.moment()
      await store.setOpenZones(changes.map((each) => ({ ...toChange(each), at, clock })))
    }
    this.#known = known
    this.#owners = new Set(windows.flatMap((each) => (each.isOfDevices ? [each.ownerNo] : [])))
    this.#minute = Math.floor(now / minuteMs)
    this.#readAt = now
    const opened = windows.flatMap((window) => openedSince(window, before, known))
    if (opened.length > 0) this.onOpened(opened)
  }

  /** Does the work that a change of a group left to do, even if its node was killed. */
  async #sweepGroups(): Promise<void> {
    for (let batches = 0; batches < sweptAtOnce; batches++) {
      if (!(await this.#deps.store.sweepGroups({ clock: this.#deps.moment().clock }))) return
    }
  }

  /** Reads the zones of owners with windows in device time. */
  async #readZones(windows: JudgedWindow[]): Promise<Map<number, string[]>> {
    const owners = new Set(windows.flatMap((each) => (each.timeZone === 'device' ? [each.ownerNo] : [])))
    const zones = new Map<number, string[]>()
    for (const ownerNo of owners) zones.set(ownerNo, await this.#deps.store.listZones({ ownerNo }))
    return zones
  }
}

function toChange({ ownerNo, windowName, version, openZones }: JudgedWindow) {
  return { ownerNo, windowName, version, openZones }
}

/** A window not known before counts as having been closed: a change may have opened it. */
function openedSince(
  { ownerNo, windowName }: JudgedWindow,
  before: Map<string, Known>,
  known: Map<string, Known>,
): OpenedWindow[] {
  const key = `${ownerNo} ${windowName}`
  const zones = newlyOpen(known.get(key)?.openZones ?? '', before.get(key)?.openZones ?? '')
  return zones === undefined || zones.length > 0 ? [{ ownerNo, windowName, zones }] : []
}
