// This node among the others: it says that it lives, hears what they tell, and finds out for itself what it may have missed.

import type { ChangeSignal } from '../../domain/change-signal.ts'
import type { Hint, Nodes, StaleSession } from '../../domain/nodes.ts'
import type { Presence } from '../../domain/presence.ts'
import type { CredentialChanges } from '../../domain/sign-in.ts'
import type { SteadyClock } from '../../domain/steady-clock.ts'
import type { DeviceKey } from '../../domain/store.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { WebhookSender } from '../webhooks/webhook-sender.ts'
import type { WebhookShare } from '../webhooks/webhook-share.ts'

export type NodeLifeDeps = {
  nodes: Nodes
  steady: SteadyClock
  now: () => number
  dispatcher: Dispatcher
  presence: Presence
  webhooks: WebhookSender
  share: WebhookShare
  changes: ChangeSignal
  outputs: ChangeSignal
  queues: ChangeSignal<string>
  credentialChanges: CredentialChanges
  onFailure: (error: unknown) => void
}

type Reactions = { [Kind in Hint['kind']]: (hint: Extract<Hint, { kind: Kind }>) => unknown }

const sessionsPerLook = 1000
const seenPerWrite = 1000

export class NodeLife {
  readonly #deps: NodeLifeDeps
  #seenFrom = 0

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
    const { nodes, steady, share, webhooks, dispatcher, presence } = this.#deps
    const beat = await nodes.beat(() => steady.now())
    steady.keepUpWith(beat.clock)
    share.setNodes(beat)
    if (beat.wasForgotten) {
      dispatcher.announceAll()
      presence.announceHttp()
      this.#lookAtAll()
    }
    await nodes.forgetDeadNodes()
    await webhooks.lookAgain()
  }

  /** Closes what another node has taken over, or whose credential is void, though nobody has told. */
  async checkSessions(): Promise<void> {
    const { nodes, dispatcher } = this.#deps
    const settle: Record<StaleSession['reason'], (device: DeviceKey) => void> = {
      'taken-over': (device) => dispatcher.takenOver(device, Number.POSITIVE_INFINITY),
      'credential-void': (device) => dispatcher.disconnect(device),
      forgotten: (device) => dispatcher.announce(device),
    }
    const sessions = dispatcher.openSessions()
    for (let start = 0; start < sessions.length; start += sessionsPerLook) {
      const part = sessions.slice(start, start + sessionsPerLook)
      for (const { reason, ...device } of await nodes.findStaleSessions(part)) {
        settle[reason](device)
      }
    }
  }

  /** So that all nodes know when a device was heard last. */
  async recordSeen(): Promise<void> {
    const { nodes, presence, now } = this.#deps
    const seen = presence.seenFrom(this.#seenFrom)
    const from = now()
    for (let start = 0; start < seen.length; start += seenPerWrite) {
      await nodes.recordSeen(seen.slice(start, start + seenPerWrite))
    }
    this.#seenFrom = from
  }

  /** What to do about each kind of hint. */
  #reactions(): Reactions {
    const { dispatcher, changes, outputs, webhooks, credentialChanges } = this.#deps
    return {
      wake: ({ devices }) => dispatcher.wake(devices),
      launched: ({ ownerNo, runId }) => this.#tellRun(ownerNo, runId),
      'runs-changed': ({ runIds }) => changes.hear(runIds),
      'outputs-grew': ({ jobExecutionIds }) => outputs.hear(jobExecutionIds),
      withdraw: ({ device, jobExecutionId }) => dispatcher.withdraw(device, jobExecutionId),
      'credential-void': ({ device }) => {
        credentialChanges.count++
        dispatcher.disconnect(device)
      },
      connected: ({ device, sessionNo }) => dispatcher.takenOver(device, sessionNo),
      'webhook-changed': ({ webhookNo }) => webhooks.changed(webhookNo),
      'look-at-all': () => this.#lookAtAll(),
    }
  }

  async #tellRun(ownerNo: number, runId: number): Promise<void> {
    const { dispatcher, nodes, onFailure } = this.#deps
    // Nobody is here to be told.
    if (!dispatcher.hasListeners) return
    try {
      dispatcher.launched(ownerNo, await nodes.getLaunchedRun(runId))
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
    this.checkSessions().catch(onFailure)
    webhooks.reopenAll()
  }
}
