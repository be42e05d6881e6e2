// This node's membership in the cluster: it sends heartbeats, reacts to the hints of other nodes, and polls for what a
// lost hint would have announced.

import type { CredentialChanges } from '../../domain/access/sign-in.ts'
import type { Hint, Nodes } from '../../domain/common/ports/nodes.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import type { RunPart } from '../../domain/rollout/ports/rollouts.ts'
import type { BridgeViews } from '../../state/bridge-views.ts'
import type { ChangeSignal } from '../../state/change-signal.ts'
import type { Documents } from '../../state/documents.ts'
import type { FleetHistory } from '../../state/fleet-history.ts'
import type { Freezes } from '../../state/freezes.ts'
import type { OpenWindows } from '../../state/open-windows.ts'
import type { Presence } from '../../state/presence.ts'
import type { SharedWallClock } from '../../state/shared-wall-clock.ts'
import type { SteadyClock } from '../../state/steady-clock.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { WebhookSender } from '../webhooks/webhook-sender.ts'
import type { WebhookShare } from '../webhooks/webhook-share.ts'

type NodeLifeDeps = {
  nodes: Nodes
  steady: SteadyClock
  wall: SharedWallClock
  /** Monotonic milliseconds. */
  elapsed: () => number
  dispatcher: Dispatcher
  store: Pick<Store, 'listReleased'>
  freezes: Freezes
  windows: OpenWindows
  bridgeViews: BridgeViews
  presence: Presence
  webhooks: WebhookSender
  share: WebhookShare
  changes: ChangeSignal
  outputs: ChangeSignal
  queues: ChangeSignal<string>
  newEvents: ChangeSignal<'all'>
  credentialChanges: CredentialChanges
  historyChanges: { count: number }
  documents: Documents
  fleetHistory: FleetHistory
  /** The database was failed over or restored. */
  onOtherHistory: () => void
  onFailure: (error: unknown) => void
}

type Reactions = { [Kind in Hint['kind']]: (hint: Extract<Hint, { kind: Kind }>) => unknown }

const sessionsPerRead = 1000
const seenPerWrite = 1000

export class NodeLife {
  readonly #deps: NodeLifeDeps
  /** As of the last heartbeat. */
  #hasOthers = false
  #seenFrom = Number.NEGATIVE_INFINITY

  constructor(deps: NodeLifeDeps) {
    this.#deps = deps
  }

  start(): void {
    const { nodes, changes, outputs, webhooks, freezes, windows } = this.#deps
    freezes.forward = () => nodes.send({ kind: 'freeze-changed' })
    windows.forward = () => nodes.send({ kind: 'windows-changed' })
    changes.forward = (runIds) => nodes.send({ kind: 'runs-changed', runIds })
    outputs.forward = (jobExecutionIds) => nodes.send({ kind: 'outputs-grew', jobExecutionIds })
    const reactions = this.#reactions()
    // A node of another version may send hints of a kind that this one does not know.
    nodes.onHint((hint) => (reactions[hint.kind] as ((hint: Hint) => unknown) | undefined)?.(hint))
    nodes.onWebhooksLost(() => webhooks.reopenAll())
  }

  async beat(): Promise<void> {
    const { nodes, steady, wall, share, dispatcher, presence } = this.#deps
    const beat = await nodes.beat(steady.now())
    steady.keepUpWith(beat.clock)
    wall.follow(beat)
    share.setNodes(beat)
    this.#hasOthers = beat.nodeNos.length > 1
    if (beat.isOtherHistory) this.#forgetHistory()
    if (!beat.wasRemoved && !beat.isOtherHistory) return
    dispatcher.announceAll()
    presence.announceHttp()
    this.#resync()
  }

  /** Separate from the heartbeat, which waits for the database. */
  checkDatabase(): void {
    const { nodes, dispatcher, changes, outputs, queues } = this.#deps
    if (!nodes.giveUpIfSilent()) return
    // Callers that wait for a change read again, and are refused.
    for (const signal of [changes, outputs, queues]) signal.notifyAllLocal()
    if (this.#hasOthers) dispatcher.sendElsewhere()
  }

  /** Separate from the heartbeat, so that waiting for locks here does not delay it. */
  async removeDeadNodes(): Promise<void> {
    const { nodes, presence } = this.#deps
    presence.adoptByHttp(await nodes.removeDeadNodes())
  }

  shareWebhooks(): Promise<void> {
    return this.#deps.webhooks.rebalance()
  }

  /** A node that crashes between a commit and its hint has notified nobody. */
  pollEvents(): void {
    this.#deps.newEvents.notifyAllLocal()
    this.#deps.webhooks.noticeEvents()
  }

  /** Closes sessions that another node took over, or whose credential is void, when the hint was lost. */
  async closeStaleSessions(): Promise<void> {
    const { nodes, dispatcher } = this.#deps
    const sessions = dispatcher.openSessions()
    for (let start = 0; start < sessions.length; start += sessionsPerRead) {
      const batch = sessions.slice(start, start + sessionsPerRead)
      for (const stale of await nodes.findStaleSessions(batch)) dispatcher.closeStale(stale)
    }
  }

  /** Shares with all nodes when each device was last seen, and corrects those recorded as offline. */
  async recordSeen(): Promise<void> {
    const { nodes, presence, dispatcher, elapsed } = this.#deps
    const from = elapsed()
    const seen = presence.seenWithin(from - this.#seenFrom)
    for (let start = 0; start < seen.length; start += seenPerWrite) {
      const offline = await nodes.recordSeen(seen.slice(start, start + seenPerWrite))
      for (const device of offline) dispatcher.announce(device)
    }
    this.#seenFrom = from
  }

  /** Ends streams and drops everything that was read before. */
  #forgetHistory(): void {
    const { historyChanges, documents, fleetHistory, newEvents, onOtherHistory } = this.#deps
    onOtherHistory()
    historyChanges.count++
    documents.clear()
    fleetHistory.clear()
    newEvents.notifyAllLocal()
  }

  #reactions(): Reactions {
    const { dispatcher, changes, outputs, webhooks } = this.#deps
    return {
      wake: ({ devices }) => dispatcher.wake(devices),
      launched: ({ ownerNo, runId }) => this.#notifyRun(ownerNo, runId),
      released: ({ kind: _, ...part }) => this.#notifyReleased(part),
      'freeze-changed': () => this.#deps.freezes.refresh().catch(this.#deps.onFailure),
      'windows-changed': () => this.#deps.windows.refresh().catch(this.#deps.onFailure),
      'runs-changed': ({ runIds }) => changes.notifyLocal(runIds),
      'outputs-grew': ({ jobExecutionIds }) => outputs.notifyLocal(jobExecutionIds),
      withdraw: ({ device, jobExecutionId }) => dispatcher.withdraw(device, jobExecutionId),
      'credential-void': ({ device }) => this.#credentialVoid(device),
      connected: ({ device, ...begin }) => dispatcher.takenOver(device, begin),
      'webhook-changed': ({ webhookNo }) => webhooks.changed(webhookNo),
      'bridge-view': ({ nodeNo, view }) => this.#deps.bridgeViews.hear(nodeNo, view),
      'check-all': () => this.#resync(),
    }
  }

  /** A hint may arrive late: a device that reconnected with a new token meanwhile stays connected. */
  async #credentialVoid(device: DeviceKey): Promise<void> {
    const { dispatcher, nodes, queues, credentialChanges, onFailure } = this.#deps
    credentialChanges.count++
    const session = dispatcher.openSession(device)
    if (session === undefined) {
      dispatcher.disconnect(device)
      return
    }
    queues.notifyLocal([deviceText(device)])
    try {
      for (const stale of await nodes.findStaleSessions([session])) dispatcher.closeStale(stale)
    } catch (error) {
      // The next run of closeStaleSessions finds it.
      onFailure(error)
    }
  }

  async #notifyRun(ownerNo: number, runId: number): Promise<void> {
    const { dispatcher, nodes, onFailure } = this.#deps
    if (!dispatcher.hasListeners) return
    try {
      const launch = dispatcher.beginLaunch()
      const { run, moved } = await nodes.getLaunchedRun(runId)
      dispatcher.wake(moved)
      dispatcher.launched(ownerNo, run, launch)
    } catch (error) {
      // The next sweep notifies the devices.
      onFailure(error)
    }
  }

  async #notifyReleased(part: RunPart): Promise<void> {
    const { dispatcher, store, onFailure } = this.#deps
    if (!dispatcher.hasListeners) return
    try {
      const released = await store.listReleased(part)
      if (released) dispatcher.released(part, released)
    } catch (error) {
      // The next sweep notifies the devices.
      onFailure(error)
    }
  }

  #resync(): void {
    const { dispatcher, changes, outputs, queues, webhooks, credentialChanges, onFailure } = this.#deps
    credentialChanges.count++
    for (const signal of [changes, outputs, queues]) signal.notifyAllLocal()
    dispatcher.sweep().catch(onFailure)
    this.closeStaleSessions().catch(onFailure)
    webhooks.reopenAll()
  }
}
