// Reads one of a program's pipes to its end, with backpressure.

import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

const silentMs = 1000
const mostSilences = 10

export class PipeReader {
  readonly #pipe: Readable
  readonly #ended: Promise<true>
  #chunks = 0
  #isTaking = false

  constructor(pipe: Readable, take: (chunk: Buffer) => Promise<void>) {
    this.#pipe = pipe
    this.#ended = this.#read(take).then(() => true)
  }

  /**
   * Resolves when the pipe is closed. Call when the process group has ended: a process that left the group may hold the
   * pipe open forever, so reading stops after a second of silence, or ten seconds in total.
   */
  async finish(): Promise<void> {
    for (let waited = 0; waited < mostSilences; waited++) {
      const before = this.#chunks
      const pause = new AbortController()
      const silence = sleep(silentMs, false, { signal: pause.signal }).catch(() => false)
      const hasEnded = await Promise.race([this.#ended, silence])
      pause.abort()
      if (hasEnded || (this.#chunks === before && !this.#isTaking)) break
    }
    this.#pipe.destroy()
    await this.#ended
  }

  async #read(take: (chunk: Buffer) => Promise<void>): Promise<void> {
    try {
      for await (const chunk of this.#pipe) {
        this.#chunks++
        this.#isTaking = true
        await take(chunk)
        this.#isTaking = false
      }
    } catch {
      // Destroyed by us or broken by the other end: either way there is no more to read.
    }
  }
}
