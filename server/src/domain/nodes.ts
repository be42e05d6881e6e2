// The port to the other nodes on the same database: what they are told, and who is still there. What they are told is a
// hint: the store has the truth, and a hint that gets lost costs seconds.

import type { DeviceKey, LaunchedRun } from './store.ts'

export type Hint =
  /** The queues of these devices have changed. */
  | { kind: 'wake'; devices: DeviceKey[] }
  /** A run of many devices was made. */
  | { kind: 'launched'; ownerNo: number; runId: number }
  | { kind: 'runs-changed'; runIds: number[] }
  | { kind: 'outputs-grew'; jobExecutionIds: number[] }
  /** The execution was taken from the device while it may be working on it. */
  | { kind: 'withdraw'; device: DeviceKey; jobExecutionId: number }
  | { kind: 'credential-void'; device: DeviceKey }
  | { kind: 'connected'; device: DeviceKey; sessionNo: number }
  | { kind: 'webhook-changed'; webhookNo: number }
  /** Hints may have been lost: look at everything. */
  | { kind: 'look-at-all' }

/** A connection that is open here, with what its device has shown. */
export type OpenSession = DeviceKey & {
  sessionNo: number
  /** Of the token it signed in with; null if it was a certificate. */
  tokenId: string | null
}

/** `forgotten`: it is open, but the others took this node for gone. */
export type StaleSession = DeviceKey & { reason: 'taken-over' | 'credential-void' | 'forgotten' }

export type Beat = {
  /** The steady clock that all nodes share: that of the fastest. */
  clock: number
  /** The others had given this node up: what was known of its connections is forgotten. */
  wasForgotten: boolean
  /** Of this node. */
  nodeNo: number
  /** Of all that live, this one included. */
  nodeNos: number[]
}

export type Nodes = {
  /** Sent with others that gather meanwhile. */
  tell(hint: Hint): void
  /** What other nodes tell, and `look-at-all` when something of it may have been lost. */
  onHint(listener: (hint: Hint) => void): void

  /** Says that this node lives. `clock` is its steady clock; one that has none yet gets that of the others. */
  beat(clock?: () => number): Promise<Beat>
  /** Whoever was connected to nodes that are gone is offline. */
  forgetDeadNodes(): Promise<void>
  /** Larger than that of any session that was opened before, on whatever node. */
  takeSessionNo(): Promise<number>
  /** When devices that are connected here were heard last. */
  recordSeen(seen: (DeviceKey & { at: number })[]): Promise<void>
  /** Those of which the database says something else: void, at another node by now, or offline. */
  findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]>
  /** Of which `launched` has told. */
  getLaunchedRun(runId: number): Promise<LaunchedRun>

  /** Only one node at a time has a webhook; false: another one has it. */
  takeWebhook(webhookNo: number): Promise<boolean>
  giveBackWebhook(webhookNo: number): Promise<void>
  /** Called when all that were taken are lost: another node may have them by now. */
  onWebhooksLost(listener: () => void): void
}
