// Reads one of a program's pipes to its end, no faster than what is read can be put away.

import type { Readable } from 'node:stream'
import { setTimeout as rest } from 'node:timers/promises'

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
   * Resolves when the pipe is closed. To be called when the process group is gone: who has left it on purpose may
   * hold the pipe for ever, and is heard until it has been silent for a second, or has had ten.
   */
  async finish(): Promise<void> {
    for (let waited = 0; waited < mostSilences; waited++) {
      const before = this.#chunks
      const pause = new AbortController()
      const silence = rest(silentMs, false, { signal: pause.signal }).catch(() => false)
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
      // Destroyed by us, or broken by the other end: there is no more to read either way.
    }
  }
}
