// This node among the others: it says that it lives, hears what they tell, and finds out for itself what it may have missed.

import { deviceText } from '../../domain/device-link.ts'
import type { Hint, Nodes } from '../../domain/nodes.ts'
import type { DeviceKey } from '../../domain/ports/devices.ts'
import type { CredentialChanges } from '../../domain/sign-in.ts'
import type { ChangeSignal } from '../../state/change-signal.ts'
import type { Presence } from '../../state/presence.ts'
import type { SteadyClock } from '../../state/steady-clock.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { WebhookSender } from '../webhooks/webhook-sender.ts'
import type { WebhookShare } from '../webhooks/webhook-share.ts'

export type NodeLifeDeps = {
  nodes: Nodes
  steady: SteadyClock
  /** Milliseconds that never jump. */
  elapsed: () => number
  dispatcher: Dispatcher
  presence: Presence
  webhooks: WebhookSender
  share: WebhookShare
  changes: ChangeSignal
  outputs: ChangeSignal
  queues: ChangeSignal<string>
  newEvents: ChangeSignal<'all'>
  credentialChanges: CredentialChanges
  onFailure: (error: unknown) => void
}

type Reactions = { [Kind in Hint['kind']]: (hint: Extract<Hint, { kind: Kind }>) => unknown }

const sessionsPerLook = 1000
const seenPerWrite = 1000

export class NodeLife {
  readonly #deps: NodeLifeDeps
  #seenFrom = Number.NEGATIVE_INFINITY

  constructor(deps: NodeLifeDeps) {
    this.#deps = deps
  }

  start(): void {
    const { nodes, changes, outputs, webhooks } = this.#deps
    changes.forward = (runIds) => nodes.tell({ kind: 'runs-changed', runIds })
    outputs.forward = (jobExecutionIds) => nodes.tell({ kind: 'outputs-grew', jobExecutionIds })
    const reactions = this.#reactions()
    // A node of another version may tell what this one does not know.
    nodes.onHint((hint) => (reactions[hint.kind] as ((hint: Hint) => unknown) | undefined)?.(hint))
    nodes.onWebhooksLost(() => webhooks.reopenAll())
  }

  async beat(): Promise<void> {
    const { nodes, steady, share, dispatcher, presence } = this.#deps
    const beat = await nodes.beat(steady.now())
    steady.keepUpWith(beat.clock)
    share.setNodes(beat)
    if (!beat.wasForgotten) return
    dispatcher.announceAll()
    presence.announceHttp()
    this.#lookAtAll()
  }

  /** Apart from the beat: whatever this has to wait for, this node lives meanwhile. */
  async forgetDeadNodes(): Promise<void> {
    const { nodes, presence } = this.#deps
    presence.adoptByHttp(await nodes.forgetDeadNodes())
  }

  shareWebhooks(): Promise<void> {
    return this.#deps.webhooks.lookAgain()
  }

  /** A node that ends between a commit and its hint has told nobody. */
  lookForEvents(): void {
    this.#deps.newEvents.hearAll()
    this.#deps.webhooks.noticeEvents()
  }

  /** Closes what another node has taken over, or whose credential is void, though nobody has told. */
  async closeStaleSessions(): Promise<void> {
    const { nodes, dispatcher } = this.#deps
    const sessions = dispatcher.openSessions()
    for (let start = 0; start < sessions.length; start += sessionsPerLook) {
      const part = sessions.slice(start, start + sessionsPerLook)
      for (const stale of await nodes.findStaleSessions(part)) dispatcher.closeStale(stale)
    }
  }

  /** So that all nodes know when a device was heard last; and whoever is heard is online. */
  async recordSeen(): Promise<void> {
    const { nodes, presence, dispatcher, elapsed } = this.#deps
    const from = elapsed()
    const seen = presence.heardWithin(from - this.#seenFrom)
    for (let start = 0; start < seen.length; start += seenPerWrite) {
      const offline = await nodes.recordSeen(seen.slice(start, start + seenPerWrite))
      for (const device of offline) dispatcher.announce(device)
    }
    this.#seenFrom = from
  }

  /** What to do about each kind of hint. */
  #reactions(): Reactions {
    const { dispatcher, changes, outputs, webhooks } = this.#deps
    return {
      wake: ({ devices }) => dispatcher.wake(devices),
      launched: ({ ownerNo, runId }) => this.#tellRun(ownerNo, runId),
      'runs-changed': ({ runIds }) => changes.hear(runIds),
      'outputs-grew': ({ jobExecutionIds }) => outputs.hear(jobExecutionIds),
      withdraw: ({ device, jobExecutionId }) => dispatcher.withdraw(device, jobExecutionId),
      'credential-void': ({ device }) => this.#credentialVoid(device),
      connected: ({ device, since }) => dispatcher.takenOver(device, since),
      'webhook-changed': ({ webhookNo }) => webhooks.changed(webhookNo),
      'look-at-all': () => this.#lookAtAll(),
    }
  }

  /** A hint may come late: whoever has connected with a new token meanwhile stays. */
  async #credentialVoid(device: DeviceKey): Promise<void> {
    const { dispatcher, nodes, queues, credentialChanges, onFailure } = this.#deps
    credentialChanges.count++
    const session = dispatcher.openSession(device)
    if (session === undefined) {
      dispatcher.disconnect(device)
      return
    }
    queues.hear([deviceText(device)])
    try {
      for (const stale of await nodes.findStaleSessions([session])) dispatcher.closeStale(stale)
    } catch (error) {
      // The next look at all of them finds it.
      onFailure(error)
    }
  }

  async #tellRun(ownerNo: number, runId: number): Promise<void> {
    const { dispatcher, nodes, onFailure } = this.#deps
    // Nobody is here to be told.
    if (!dispatcher.hasListeners) return
    try {
      const launch = dispatcher.beginLaunch()
      const { run, moved } = await nodes.getLaunchedRun(runId)
      dispatcher.wake(moved)
      dispatcher.launched(ownerNo, run, launch)
    } catch (error) {
      // The next sweep finds what waits.
      onFailure(error)
    }
  }

  #lookAtAll(): void {
    const { dispatcher, changes, outputs, queues, webhooks, credentialChanges, onFailure } = this.#deps
    credentialChanges.count++
    for (const signal of [changes, outputs, queues]) signal.hearAll()
    dispatcher.sweep().catch(onFailure)
    this.closeStaleSessions().catch(onFailure)
    webhooks.reopenAll()
  }
}
