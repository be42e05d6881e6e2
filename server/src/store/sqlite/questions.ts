// What a thread was asked and has not begun with. One at a time, in the order in which it was sent: transactions do not mix,
// and memory relies on the order. Only small triggers overtake large ones (large-trigger.ts): neither changes what the other
// finds, and queues know of it (waiting-queue.ts).

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { largeTrigger } from './large-trigger.ts'
import type { CheckedTrigger, KeyQuestion, UsualTriggers } from './trigger-message.ts'

// Lists: with an object the names of its fields would be sent along each time.
export type Question = [id: number, name: string, input: unknown]

export class Questions {
  readonly #port: MessagePort
  readonly #waiting: (Question | 'close')[] = []

  constructor(port: MessagePort) {
    this.#port = port
  }

  add(question: Question | 'close'): void {
    this.#waiting.push(question)
  }

  take(): Question | 'close' | undefined {
    return this.#waiting.shift()
  }

  /** Also of what has only just come: whether one may go before a large trigger. */
  hasSmall(): boolean {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#waiting.push(next.message)
    }
    return this.#nextSmall() >= 0
  }

  takeSmall(): Question | undefined {
    const at = this.#nextSmall()
    return at < 0 ? undefined : (this.#waiting.splice(at, 1)[0] as Question)
  }

  #nextSmall(): number {
    const at = this.#waiting.findIndex((each) => each === 'close' || each[1] !== 'recordLarge')
    return isSmallTrigger(this.#waiting[at]) ? at : -1
  }
}

function isSmallTrigger(question: Question | 'close' | undefined): boolean {
  const [, name, input] = question && question !== 'close' ? question : []
  if (name === 'recordUsual') return (input as UsualTriggers).deviceNos.length < largeTrigger
  if (name !== 'recordTriggers') return false
  const totals = (input as (CheckedTrigger | KeyQuestion)[]).map((each) => ('runId' in each ? each.total : 0))
  return totals.reduce((sum, total) => sum + total, 0) < largeTrigger
}
