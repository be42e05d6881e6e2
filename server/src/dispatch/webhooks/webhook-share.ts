// Which node delivers which webhook, by rendezvous hashing, so that all nodes agree without talking to each other.
// Nodes may briefly disagree on who is alive, so a node must also hold the webhook's lock before it sends.

import { hash } from 'node:crypto'
import type { Beat, Nodes } from '../../domain/common/ports/nodes.ts'

/** Shorter than the time after which other nodes remove a stalled node. */
const validForMs = 8000

export class WebhookShare {
  readonly #nodes: Pick<Nodes, 'takeWebhook' | 'giveBackWebhook'>
  /** Monotonic milliseconds. */
  readonly #elapsed: () => number
  #nodeNo = 0
  #nodeNos: number[] = []
  #setAt = 0

  constructor(nodes: Pick<Nodes, 'takeWebhook' | 'giveBackWebhook'>, elapsed: () => number) {
    this.#nodes = nodes
    this.#elapsed = elapsed
  }

  /** False after this node has stalled: other nodes may have taken its webhooks without it noticing. */
  get holds(): boolean {
    return this.#elapsed() - this.#setAt < validForMs
  }

  setNodes({ nodeNo, nodeNos }: Pick<Beat, 'nodeNo' | 'nodeNos'>): void {
    this.#nodeNo = nodeNo
    this.#nodeNos = nodeNos
    this.#setAt = this.#elapsed()
  }

  /** When a node joins or leaves, only that node's webhooks move. */
  isOurs(webhookNo: number): boolean {
    const weight = (nodeNo: number) => hash('sha1', `${webhookNo} ${nodeNo}`)
    const [first] = this.#nodeNos.toSorted((one, other) => (weight(one) < weight(other) ? -1 : 1))
    return first === this.#nodeNo
  }

  /** Releases a webhook that does not, or no longer, belong to this node. */
  async take(webhookNo: number): Promise<boolean> {
    if (this.holds && this.isOurs(webhookNo)) return this.#nodes.takeWebhook(webhookNo)
    await this.giveBack(webhookNo)
    return false
  }

  giveBack(webhookNo: number): Promise<void> {
    return this.#nodes.giveBackWebhook(webhookNo)
  }
}
