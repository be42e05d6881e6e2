// The port to the other nodes of the cluster: hints between them, and which of them are alive. The store is authoritative; a
// lost hint costs seconds.

import type { BridgeView } from '../../bridge/bridge.ts'
import type { DeviceKey } from '../../device/device-key.ts'
import type { SessionBegin } from '../../device/judge-presence.ts'
import type { Transport } from '../../device/ports/presence.ts'
import type { RunPart } from '../../rollout/ports/rollouts.ts'
import type { LaunchedRun } from '../../trigger/launched-run.ts'
import type { SteadyInstant, WallInstant } from '../instants.ts'

export type Hint =
  /** The queues of these devices have changed. */
  | { kind: 'wake'; devices: DeviceKey[] }
  /** A run with many devices was created. */
  | { kind: 'launched'; ownerNo: number; runId: number }
  /** Many devices of a run may begin. */
  | ({ kind: 'released' } & RunPart)
  /** A fleet was frozen, or is no longer. */
  | { kind: 'freeze-changed' }
  /** A window was changed or deleted. */
  | { kind: 'windows-changed' }
  | { kind: 'runs-changed'; runIds: number[] }
  | { kind: 'outputs-grew'; jobExecutionIds: number[] }
  /** The execution has ended while the device may still be working on it. */
  | { kind: 'withdraw'; device: DeviceKey; jobExecutionId: number }
  | { kind: 'credential-void'; device: DeviceKey }
  /** The device opened a new session on this node. */
  | ({ kind: 'connected'; device: DeviceKey } & SessionBegin)
  | { kind: 'webhook-changed'; webhookNo: number }
  /** A bridge that the sending node runs. */
  | { kind: 'bridge-view'; nodeNo: number; view: BridgeView }
  /** Hints may have been lost: check everything. */
  | { kind: 'check-all' }

/** A connection that is open on this node, with the credential of its device. */
export type OpenSession = DeviceKey & {
  since: SteadyInstant
  /** The id of the token that the device signed in with; null for a certificate. */
  tokenId: string | null
}

/** `since` identifies the session: the device may have opened another one meanwhile. */
export type StaleSession = DeviceKey & { since: SteadyInstant; reason: 'taken-over' | 'credential-void' }

/** A device that polled a node over HTTP or reached it through a broker; the node is now dead. */
export type LeftDevice = DeviceKey & { lastSeenAt: number; transport: Transport }

/** `moved`: devices whose executions have changed state since the launch. */
type AnnouncedRun = { run: LaunchedRun; moved: DeviceKey[] }

export type Beat = {
  /** The steady clock that all nodes share: the fastest one. */
  clock: SteadyInstant
  /** The database's wall clock at that instant. */
  at: WallInstant
  /** The others had removed this node as dead, including the presence of its devices. Reported once. */
  wasRemoved: boolean
  /**
   * The database was failed over or restored and may lack commits that it had confirmed, so cached data may be wrong.
   * Reported once.
   */
  isOtherHistory: boolean
  /** The number of this node. */
  nodeNo: number
  /** The numbers of all live nodes, including this one. */
  nodeNos: number[]
}

export type Nodes = {
  /** Hints are sent in batches. */
  send(hint: Hint): void
  /** Hints of other nodes, and `check-all` if some may have been lost. */
  onHint(listener: (hint: Hint) => void): void

  /** Sends a heartbeat; without a clock, the node adopts that of the others. */
  beat(clock: SteadyInstant | undefined): Promise<Beat>
  /**
   * Call about once a second. True: the database has not answered for seconds. Pending steps of the store reject, and so do
   * all further ones until it answers again.
   */
  giveUpIfSilent(): boolean
  /**
   * Marks devices that were connected to dead nodes as offline. Devices that polled them over HTTP may poll any other
   * node: these are returned, and this node notices if they stay silent.
   */
  removeDeadNodes(): Promise<LeftDevice[]>
  /** Records when devices were last seen here; returns those that are stored as offline. */
  recordSeen(seen: (DeviceKey & { at: number })[]): Promise<DeviceKey[]>
  /** Sessions whose credential is void, or whose device has connected to another node since. */
  findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]>
  /** The run that a `launched` hint announced. */
  getLaunchedRun(runId: number): Promise<AnnouncedRun>

  /** Only one node at a time holds a webhook; false: another one does. */
  /** The same for a bridge, by the hash of its name. */
  takeBridge(bridgeNo: number): Promise<boolean>
  giveBackBridge(bridgeNo: number): Promise<void>
  takeWebhook(webhookNo: number): Promise<boolean>
  giveBackWebhook(webhookNo: number): Promise<void>
  /** Called when this node has lost all webhooks and bridges that it held: another node may have taken them. */
  onWebhooksLost(listener: () => void): void
}
