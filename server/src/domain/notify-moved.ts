// Who is notified of moves once they are on disk.

import type { DeviceLink } from './device-link.ts'
import { isActive } from './execution.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import type { Moved } from './ports/executions.ts'

export type NotifyDeps = { link: DeviceLink; changes: ChangeSignal }

/** Whoever waits for these runs, and the devices whose queues have changed. */
export function notifyMoved({ link, changes }: NotifyDeps, moved: Moved[]): void {
  if (moved.length === 0) return
  changes.tell(new Set(moved.map((each) => each.runId)))
  link.wake(moved)
}

/** For moves that a device has not reported itself: it must stop working on what was taken from it. */
export function notifyTaken(deps: NotifyDeps, moved: Moved[]): void {
  notifyMoved(deps, moved)
  for (const { ownerNo, deviceId, jobExecutionId, from, execState } of moved) {
    // One that is CANCELING is still the device's: it is asked to stop, and may confirm.
    if (isActive(from) && !isActive(execState)) deps.link.withdraw({ ownerNo, deviceId }, jobExecutionId)
  }
}
