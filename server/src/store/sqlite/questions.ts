// The queue of requests to a thread. They are handled one at a time, in the order of sending: transactions must not interleave,
// and the in-memory state relies on the order. A large run takes several requests, so that others are served in between.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Writes } from './operations.ts'

// A list, because an object would be sent with its field names each time.
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

  /** Whether any request other than a large run is waiting, including those that have just arrived. */
  hasWaiters(): boolean {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#waiting.push(next.message)
    }
    return this.#waiting.some((each) => each !== 'close' && !ofLargeRuns.has(each[1]))
  }
}
