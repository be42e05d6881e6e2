// What a thread was asked and has not begun with. One at a time, in the order in which it was sent: transactions do not mix,
// and memory relies on the order. A large run is asked for several times, so that others are served in between.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Writes } from './operations.ts'

// Lists: with an object the names of its fields would be sent along each time.
export type Question = [id: number, name: string, input: unknown]

const ofLargeRuns: ReadonlySet<string> = new Set<keyof Writes>(['writeRun', 'continueRun', 'dropDraft'])

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

  /** Also of what has only just come: whether there is any that is not a large run. */
  hasWaiters(): boolean {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#waiting.push(next.message)
    }
    return this.#waiting.some((each) => each !== 'close' && !ofLargeRuns.has(each[1]))
  }
}
