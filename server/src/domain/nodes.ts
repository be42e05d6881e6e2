// The port to the other nodes on the same database: what they are told, and who is still there. What they are told is a
// hint: the store has the truth, and a hint that gets lost costs seconds.

import type { SteadyInstant } from './instants.ts'
import type { DeviceKey } from './ports/devices.ts'
import type { LaunchedRun } from './ports/triggers.ts'

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
  /** The device has a new session, since this instant. */
  | { kind: 'connected'; device: DeviceKey; since: SteadyInstant }
  | { kind: 'webhook-changed'; webhookNo: number }
  /** Hints may have been lost: look at everything. */
  | { kind: 'look-at-all' }

/** A connection that is open here, with what its device has shown. */
export type OpenSession = DeviceKey & {
  since: SteadyInstant
  /** Of the token it signed in with; null if it was a certificate. */
  tokenId: string | null
}

/** `since`: of the session that is meant; by the time this is known the device may have another. */
export type StaleSession = DeviceKey & { since: SteadyInstant; reason: 'taken-over' | 'credential-void' }

/** A device that asked a node by HTTP which is gone now. */
export type LeftDevice = DeviceKey & { lastSeenAt: number }

/** `moved`: devices whose executions have gone on by now. */
export type ToldRun = { run: LaunchedRun; moved: DeviceKey[] }

export type Beat = {
  /** The steady clock that all nodes share: that of the fastest. */
  clock: SteadyInstant
  /** The others had given this node up: what was known of its connections is forgotten. Said once. */
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

  /** Says that this node lives; without a clock it takes that of the others. */
  beat(clock: SteadyInstant | undefined): Promise<Beat>
  /**
   * Whoever was connected to nodes that are gone is offline. Who only asked there by HTTP may ask any other: those are
   * given to this node, which notices if they stay silent.
   */
  forgetDeadNodes(): Promise<LeftDevice[]>
  /** When devices were heard here last; gives those of them that count as offline. */
  recordSeen(seen: (DeviceKey & { at: number })[]): Promise<DeviceKey[]>
  /** Those whose credential is void by now, or who have connected to another node since. */
  findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]>
  /** Of which `launched` has told. */
  getLaunchedRun(runId: number): Promise<ToldRun>

  /** Only one node at a time has a webhook; false: another one has it. */
  takeWebhook(webhookNo: number): Promise<boolean>
  giveBackWebhook(webhookNo: number): Promise<void>
  /** Called when all that were taken are lost: another node may have them by now. */
  onWebhooksLost(listener: () => void): void
}
