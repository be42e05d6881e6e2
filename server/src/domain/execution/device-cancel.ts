// A device cancels an execution itself, or refuses to stop one that was canceled. Only hawkBit devices do either; others
// report FAILED, or confirm the cancel.

import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from '../device/device-key.ts'
import { DeviceError } from './device-error.ts'
import type { ExecutionEvent, Moment } from './execution.ts'
import { type NotifyDeps, notifyMoved } from './notify-moved.ts'

type DeviceCancelDeps = NotifyDeps & { store: Pick<Store, 'moveExecution'>; moment: () => Moment }

/** An execution of the device itself: the caller has checked that. */
type DeviceExecutionKey = DeviceKey & { jobExecutionId: number }

export function cancelByDevice(deps: DeviceCancelDeps, key: DeviceExecutionKey): Promise<void> {
  return move(deps, key, 'force-cancel', 'canceled by the device')
}

/** It is IN_PROGRESS again, and may be canceled again. */
export function refuseCancel(deps: DeviceCancelDeps, key: DeviceExecutionKey): Promise<void> {
  return move(deps, key, 'refuse-cancel', 'the device continues')
}

async function move(
  deps: DeviceCancelDeps,
  { ownerNo, deviceId, jobExecutionId }: DeviceExecutionKey,
  event: ExecutionEvent,
  /** Not the device's own text, which may contain secrets. */
  reason: string,
): Promise<void> {
  const moment = deps.moment()
  const outcome = await deps.store.moveExecution({
    ...{ ownerNo, jobExecutionId, event, moment, actor: 'device', reason },
  })
  if (outcome.kind === 'moved') {
    const { runId, execState } = outcome.execution
    notifyMoved(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
    return
  }
  const state = outcome.kind === 'refused' ? outcome.execState : 'gone'
  throw new DeviceError('InvalidStateTransition', `The execution is ${state}.`)
}
