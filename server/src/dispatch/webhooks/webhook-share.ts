// Which node carries out which webhook: each has one, by the numbers of both, so that all nodes come to the same answer.
// Nodes may for a moment disagree on who lives; so whoever sends a webhook must have taken it, and it can be taken once.

import { hash } from 'node:crypto'
import type { Beat, Nodes } from '../../domain/nodes.ts'

/** Less than it takes until a node that stands still is taken out. */
const holdsForMs = 8000

export class WebhookShare {
  readonly #nodes: Pick<Nodes, 'takeWebhook' | 'giveBackWebhook'>
  /** Milliseconds that never jump. */
  readonly #elapsed: () => number
  #nodeNo = 0
  #nodeNos: number[] = []
  #setAt = 0

  constructor(nodes: Pick<Nodes, 'takeWebhook' | 'giveBackWebhook'>, elapsed: () => number) {
    this.#nodes = nodes
    this.#elapsed = elapsed
  }

  /** False after this node has stood still: others may have taken what it had, before it hears of it. */
  get holds(): boolean {
    return this.#elapsed() - this.#setAt < holdsForMs
  }

  setNodes({ nodeNo, nodeNos }: Pick<Beat, 'nodeNo' | 'nodeNos'>): void {
    this.#nodeNo = nodeNo
    this.#nodeNos = nodeNos
    this.#setAt = this.#elapsed()
  }

  /** When a node comes or goes, only its webhooks change hands. */
  isOurs(webhookNo: number): boolean {
    const weight = (nodeNo: number) => hash('sha1', `${webhookNo} ${nodeNo}`)
    const [first] = this.#nodeNos.toSorted((one, other) => (weight(one) < weight(other) ? -1 : 1))
    return first === this.#nodeNo
  }

  /** One that is not ours, or no longer, is given back. */
  async take(webhookNo: number): Promise<boolean> {
    if (this.holds && this.isOurs(webhookNo)) return this.#nodes.takeWebhook(webhookNo)
    await this.giveBack(webhookNo)
    return false
  }

  giveBack(webhookNo: number): Promise<void> {
    return this.#nodes.giveBackWebhook(webhookNo)
  }
}
