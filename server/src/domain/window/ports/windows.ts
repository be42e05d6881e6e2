// The part of the store's port for windows. The zones for which a window is open are stored with it, so that a change takes
// effect on all nodes at once; the node that detects the change writes it.

import type { Made } from '../../access/changers.ts'
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
  /** Local dates, or ranges of them with a slash. */
  except: string[]
}

type ShownWindow = WindowRule & { windowName: string; createdAt: number; updatedAt: number }
/** `changers`: who changed its rule. */
export type StoredWindow = ShownWindow & Made

/** `openZones`: in the format of domain/window/open-zones.ts. */
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
    /** Lineage of the principal: see domain/access/lineage.ts. */
    lineage: string
    most: number
  }

type WindowOutcome = ({ kind: 'put' } & Put<StoredWindow>) | { kind: 'too-many' } | { kind: 'not-expected' }

/** Some of the resources that use it; `devices`: how many have it as their own. */
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

/** A range of consecutive execution ids. */
type ExecutionRange = { first: number; last: number }

export type WindowStore = {
  putWindow(put: WindowPut): Promise<WindowOutcome>
  getWindow(window: WindowKey): Promise<StoredWindow | undefined>
  listWindows(list: OwnerList<string>): Promise<Sliced<StoredWindow, string>>
  /** Checks and deletes in one step, so that no run can start to use it in between. */
  deleteWindow(window: WindowKey & { principal: string; at: number }): Promise<WindowRemoval>
  /** The windows of all owners. */
  listAllWindows(): Promise<JudgedWindow[]>
  /** The zones of the owner's devices; a subset if there are very many. */
  listZones(owner: { ownerNo: number }): Promise<string[]>
  /** Stores the zones of a batch of devices that have none stored; false: no device was left. */
  fillZones(): Promise<boolean>
  /** Skips windows that have changed since they were judged. */
  setOpenZones(
    changes: (Pick<JudgedWindow, 'ownerNo' | 'windowName' | 'version' | 'openZones'> & BothClocks)[],
  ): Promise<void>
  /** The executions of the unfinished runs under this window. */
  listWindowRuns(window: WindowKey): Promise<ExecutionRange[]>
  /** Devices with a waiting execution of this range, in these zones; undefined: in any. */
  listWaitingDevices(waiting: ExecutionRange & { zones?: string[] | undefined }): Promise<DeviceKey[]>
}
