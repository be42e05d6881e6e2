// The part of the store's port for windows: when work may be offered to devices. Which of them are open, and for which
// zones, is stored with them, so that it holds for all nodes at once; whoever finds that it has changed writes it.

import type { Changer } from '../../access/changers.ts'
import type { Expectation } from '../../common/entity-tag.ts'
import type { BothClocks } from '../../common/instants.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'
import type { DeviceKey } from '../../device/device-key.ts'

export type WindowKey = { ownerNo: number; windowName: string }

/** When a window is open. */
export type WindowRule = {
  cron: string
  durationMinutes: number
  /** An IANA time zone, or `device`. */
  timeZone: string
  cutoffMinutes: number
  /** Local dates, or two of them with a slash between. */
  except: string[]
}

type ShownWindow = WindowRule & { windowName: string; createdAt: number; updatedAt: number }
/** `changers`: of its rule; null: nobody is known. */
export type StoredWindow = ShownWindow & { changers: Changer[] | null }

/** `openZones`: as domain/window/open-zones.ts writes it. */
export type JudgedWindow = ShownWindow & {
  ownerNo: number
  version: number
  openZones: string
  /** It is the window of a device or a group. */
  isOfDevices: boolean
}

export type WindowPut = WindowKey &
  WindowRule &
  Expectation &
  BothClocks & {
    openZones: string
    principal: string
    /** Of the principal: see domain/access/lineage.ts. */
    lineage: string
    most: number
  }

type WindowOutcome = ({ kind: 'put' } & Put<StoredWindow>) | { kind: 'too-many' } | { kind: 'not-expected' }

/** The first of those that use it; `devices`: how many have it as their own. */
type WindowUsers = {
  jobNames: string[]
  scheduleNames: string[]
  runIds: number[]
  groupNames: string[]
  deviceIds: string[]
  devices: number
}

export type WindowRemoval =
  | { kind: 'deleted' }
  | { kind: 'unknown-window' }
  | ({ kind: 'in-use' } & WindowUsers)

/** Ids of executions, one behind the other. */
type ExecutionRange = { first: number; last: number }

export type WindowStore = {
  putWindow(put: WindowPut): Promise<WindowOutcome>
  getWindow(window: WindowKey): Promise<StoredWindow | undefined>
  listWindows(list: OwnerList<string>): Promise<Sliced<StoredWindow, string>>
  /** Judged and written in one step: no run comes to use it meanwhile. */
  deleteWindow(window: WindowKey & { principal: string; at: number }): Promise<WindowRemoval>
  /** Those of all owners. */
  listAllWindows(): Promise<JudgedWindow[]>
  /** The zones in which devices of this owner are; of very many only some. */
  listZones(owner: { ownerNo: number }): Promise<string[]>
  /** Writes down the zones of some devices of which it is not known yet; false: of none any more. */
  fillZones(): Promise<boolean>
  /** Only of windows that are still those that were judged. */
  setOpenZones(
    changes: (Pick<JudgedWindow, 'ownerNo' | 'windowName' | 'version' | 'openZones'> & BothClocks)[],
  ): Promise<void>
  /** The executions of the unfinished runs under this window. */
  listWindowRuns(window: WindowKey): Promise<ExecutionRange[]>
  /** Devices for which one of these executions waits, in these zones; undefined: in any. */
  listWaitingDevices(waiting: ExecutionRange & { zones?: string[] | undefined }): Promise<DeviceKey[]>
}
