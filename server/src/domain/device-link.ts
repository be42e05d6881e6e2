// The port to connected devices. What it is told is a hint: the store has the truth, a device that connects or
// asks gets what is pending, and a hint that gets lost costs seconds.

import type { DeviceExecution, DeviceQueue } from './device-report.ts'
import type { DeviceKey } from './ports/devices.ts'
import type { Transport } from './ports/presence.ts'
import type { LaunchedRun } from './ports/triggers.ts'
import type { SignedInDevice } from './sign-in.ts'

/** A device as one text, for what is kept by device. */
export function deviceText({ ownerNo, deviceId }: DeviceKey): string {
  return `${ownerNo} ${deviceId}`
}

/** Without what else is known of it. */
export function keyOf({ ownerNo, deviceId }: DeviceKey): DeviceKey {
  return { ownerNo, deviceId }
}

export type DeviceLink = {
  /** The queues of these devices have changed. */
  wake(devices: Iterable<DeviceKey>): void
  /** A run was made: each of its devices has one more execution at the end of its queue. */
  launched(ownerNo: number, run: LaunchedRun): void
  /** The execution was taken from the device while it may be working on it. */
  withdraw(device: DeviceKey, jobExecutionId: number): void
  /** Its credential is void, or it is gone. */
  disconnect(device: DeviceKey): void
}

/** What a connected device is told without having asked. */
export type DeviceNotice =
  | { kind: 'list'; queue: DeviceQueue }
  /** Without an execution: nothing is pending any more. `document` is JSON text. */
  | { kind: 'next'; next: { execution: DeviceExecution; document: string } | undefined }
  | { kind: 'cancel'; jobExecutionId: number; deadlineSeconds: number }

export type CloseReason = 'taken-over' | 'credential-void' | 'stopping'

/** One live connection of a device. */
export type DeviceSession = {
  readonly device: SignedInDevice
  readonly transport: Transport
  /** Which notices the device has subscribed to. */
  readonly wants: { readonly list: boolean; readonly next: boolean; readonly cancel: boolean }
  /** False while the connection takes no more: the session asks for a refresh when it does again. */
  readonly isReady: boolean
  /** When the device was heard last, on the wall clock. */
  readonly lastSeenAt: number
  /** `executions` are those the notice names, for whom being handed over is noted. */
  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void
  close(reason: CloseReason): void
}

/** What a device has seen of its queue by asking: all of it, or what comes next. */
export type SeenQueue = { queue: DeviceQueue } | { next: DeviceExecution | undefined }

/** Where gateways announce their connections. */
export type DeviceSessions = {
  /** One live session per device: the one before it is closed. */
  open(session: DeviceSession): void
  /** May be called twice. */
  leave(session: DeviceSession): void
  /** It wants other notices now: tell it what waits, unless it asks by itself. */
  greet(session: DeviceSession): void
  /** It takes notices again: tell it what it has not been told. */
  refresh(session: DeviceSession): void
  /** It has asked, and this is what it was answered. */
  answered(session: DeviceSession, seen: SeenQueue): void
  /** The device has confirmed that it has these. */
  delivered(jobExecutionIds: readonly number[]): void
}
