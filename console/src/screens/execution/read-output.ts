// The output of one attempt, from its first byte on. It polls while the attempt runs: a stream would hold one of the
// six connections that a browser has for all its tabs.

import type { Execution } from '@jobcast/client'
import { isEnd, isJobcastError } from '@jobcast/client'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { OutputLines } from './output-lines.ts'

const pollMs = 500

type OutputState = { lines: OutputLines; bytes: number; isRead: boolean; error: unknown }

export function useOutput(execution: Execution, attempt: number): OutputState {
  const { jobExecutionId } = execution
  const [reader] = useState(() => new OutputReader(jobExecutionId, attempt))
  reader.isOver = isEnd(execution.execState) || execution.attempt > attempt
  reader.isStarted = execution.execState !== 'PENDING' || reader.isOver
  useEffect(() => {
    const life = new AbortController()
    void reader.read(life.signal)
    return () => life.abort()
  }, [reader])
  return reader.state.value
}

class OutputReader {
  /** The output is complete. */
  isOver = false
  /** The attempt has started; before that there is no output. */
  isStarted = false
  readonly state
  readonly #lines = new OutputLines()
  readonly #decoder = new TextDecoder()
  readonly #id: number
  readonly #attempt: number
  #offset = 0

  constructor(jobExecutionId: number, attempt: number) {
    this.#id = jobExecutionId
    this.#attempt = attempt
    this.state = signal<OutputState>({ lines: this.#lines, bytes: 0, isRead: false, error: undefined })
  }

  async read(abort: AbortSignal): Promise<void> {
    while (!abort.aborted) {
      // Only a read that starts after the end of the attempt is complete.
      const wasOver = this.isOver
      try {
        if (this.isStarted && document.visibilityState === 'visible') await this.#readOn(abort)
        this.#set({ isRead: true, error: undefined })
        if (wasOver && document.visibilityState === 'visible') return
      } catch (error) {
        if (abort.aborted) return
        this.#set({ error })
        if (isJobcastError(error) && error.status < 500) return
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  async #readOn(abort: AbortSignal): Promise<void> {
    const output = await jobcast.executions.output(this.#id, {
      attempt: this.#attempt,
      offset: this.#offset,
      signal: abort,
    })
    const pace = new Pace()
    for await (const piece of output) {
      // After truncated output the service adds a note, in every response.
      const kept = piece.subarray(0, Math.max(0, output.length - this.#offset))
      for (let from = 0; from < kept.length; from += chunkBytes) {
        const chunk = kept.subarray(from, from + chunkBytes)
        this.#offset += chunk.length
        this.#lines.append(this.#decoder.decode(chunk, { stream: true }))
        if (pace.isTimeToDraw()) this.#set({})
        await pace.yieldToPage()
        if (abort.aborted) return
      }
    }
    this.#set({})
  }

  #set(change: Partial<OutputState>): void {
    const before = this.state.value
    if (
      before.bytes === this.#offset &&
      Object.entries(change).every(([name, value]) => before[name as keyof OutputState] === value)
    )
      return
    this.state.value = { ...before, ...change, bytes: this.#offset }
  }
}

/** A browser may deliver megabytes at once. */
const chunkBytes = 32 * 1024
const workMs = 8
const drawEveryMs = 100

/** Lets the page draw and respond between two chunks of a long output. */
class Pace {
  #begunAt = performance.now()
  #drawnAt = performance.now()

  isTimeToDraw(): boolean {
    if (performance.now() - this.#drawnAt < drawEveryMs) return false
    this.#drawnAt = performance.now()
    return true
  }

  async yieldToPage(): Promise<void> {
    if (performance.now() - this.#begunAt < workMs) return
    await new Promise((resolve) => setTimeout(resolve))
    this.#begunAt = performance.now()
  }
}
