// The port to connected devices. Its calls are hints: the store is authoritative, a device that connects or polls gets what
// is pending, and a lost hint costs seconds.

import type { SignedInDevice } from '../../access/sign-in.ts'
import type { DeviceExecution, DeviceQueue } from '../../execution/device-report.ts'
import type { DeviceDocument } from '../../execution/ports/documents.ts'
import type { ReleasedPart, RunPart } from '../../rollout/ports/rollouts.ts'
import type { LaunchedRun } from '../../trigger/launched-run.ts'
import type { DeviceKey } from '../device-key.ts'
import type { Transport } from './presence.ts'

/** A device as a string key. */
export function deviceText({ ownerNo, deviceId }: DeviceKey): string {
  return `${ownerNo} ${deviceId}`
}

/** Strips all other fields. */
export function keyOf({ ownerNo, deviceId }: DeviceKey): DeviceKey {
  return { ownerNo, deviceId }
}

export type DeviceLink = {
  /** The queues of these devices have changed. */
  wake(devices: Iterable<DeviceKey>): void
  /** A run was created: each of its devices has one more execution at the end of its queue. */
  launched(ownerNo: number, run: LaunchedRun): void
  /** Executions that were held back may begin: each of these devices has one more in its queue. */
  released(part: RunPart, released: ReleasedPart): void
  /** The execution has ended while the device may still be working on it. */
  withdraw(device: DeviceKey, jobExecutionId: number): void
  /** The device was deleted, or its credential is void. */
  disconnect(device: DeviceKey): void
}

/** A notification to a connected device. */
export type DeviceNotice =
  | { kind: 'list'; queue: DeviceQueue }
  /** Without an execution: nothing is pending any more. */
  | { kind: 'next'; next: { execution: DeviceExecution; document: DeviceDocument } | undefined }
  | { kind: 'cancel'; jobExecutionId: number; deadlineSeconds: number }

export type CloseReason = 'taken-over' | 'credential-void' | 'stopping' | 'use-another-server'

/** One live connection of a device. */
export type DeviceSession = {
  readonly device: SignedInDevice
  readonly transport: Transport
  /** Which notices the device has subscribed to. */
  readonly wants: { readonly list: boolean; readonly next: boolean; readonly cancel: boolean }
  /** False while the connection is congested; the session calls refresh when it is ready again. */
  readonly isReady: boolean
  /** On the wall clock. */
  readonly lastSeenAt: number
  /** `jobExecutionIds` are the executions that the notice names; their delivery is recorded. */
  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void
  /** Buffers notices until `flush`, which must follow in the same turn of the event loop. */
  gather(): void
  flush(): void
  /** Stops reading from the connection until `release`, which must follow soon. */
  hold(): void
  release(): void
  close(reason: CloseReason): void
}

/** What a device has received of its queue in an answer: all of it, or the next execution. */
export type SeenQueue = { queue: DeviceQueue } | { next: DeviceExecution | undefined }

/** Where gateways register their connections. */
export type DeviceSessions = {
  /** One live session per device: the previous one is closed. */
  open(session: DeviceSession): void
  /** May be called twice. */
  leave(session: DeviceSession): void
  /** Its subscriptions have changed: notify it of its queue, unless it requests the queue itself. */
  greet(session: DeviceSession): void
  /** It is ready again: send the notices that it has missed. */
  refresh(session: DeviceSession): void
  /** It requested its queue and got this answer. */
  answered(session: DeviceSession, seen: SeenQueue): void
  /** The device acknowledged these. */
  delivered(jobExecutionIds: readonly number[]): void
}
