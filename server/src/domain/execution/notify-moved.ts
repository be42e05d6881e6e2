// Sends notifications about moves once they are on disk.

import type { DeviceLink } from '../device/ports/device-link.ts'
import type { ChangeSignal } from '../event/ports/change-signal.ts'
import { isActive } from './execution.ts'
import type { Moved } from './ports/executions.ts'

export type NotifyDeps = { link: DeviceLink; changes: ChangeSignal; onTaken?: (moved: Moved[]) => void }

/** Wakes callers that wait for these runs, and the devices whose queues have changed. */
export function notifyMoved({ link, changes }: NotifyDeps, moved: Moved[]): void {
  if (moved.length === 0) return
  changes.notify(new Set(moved.map((each) => each.runId)))
  link.wake(moved)
}

/** For moves that the device did not report itself: it must stop working on ended executions. */
export function notifyTaken(deps: NotifyDeps, moved: Moved[]): void {
  notifyMoved(deps, moved)
  deps.onTaken?.(moved)
  for (const { ownerNo, deviceId, jobExecutionId, from, execState } of moved) {
    // A CANCELING execution still belongs to the device, which is asked to stop and may confirm.
    if (isActive(from) && !isActive(execState)) deps.link.withdraw({ ownerNo, deviceId }, jobExecutionId)
  }
}
