// Reports which devices a wait is waiting for, and why: otherwise an offline device would silently keep a run open.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Execution, isEnd, type Jobcast, type Run } from '@jobcast/client'
import { plainText } from '../output/text-width.ts'

const everyMs = 5000
/** Up to this many unfinished executions are all named; of more, only one, and only while nothing changes. */
const maxNamed = 3
const unfinishedStates = ['PENDING', 'IN_PROGRESS', 'CANCELING'] as const

type WaitingForOptions = {
  client: Jobcast
  runId: number
  say: (text: string) => void
  signal: AbortSignal
}

export class WaitingFor {
  readonly #options: WaitingForOptions
  /** Reported texts, so that each is reported once. */
  readonly #said = new Set<string>()
  #run: Run | undefined
  #lastCounts = ''

  constructor(options: WaitingForOptions) {
    this.#options = options
    // The wait itself reports errors; explanations are optional.
    void this.#explainRepeatedly().catch(() => undefined)
  }

  update(run: Run): void {
    this.#run = run
  }

  /** Called when the wait is about to end, so it explains even if the run is not stalled. */
  async explainNow(): Promise<void> {
    if (this.#run !== undefined) await this.#explain(this.#run, true).catch(() => undefined)
  }

  async #explainRepeatedly(): Promise<void> {
    const { signal } = this.#options
    for (;;) {
      await sleep(everyMs, undefined, { signal, ref: false })
      if (this.#run !== undefined) await this.#explain(this.#run, false)
    }
  }

  async #explain({ counts, runId }: Run, isLast: boolean): Promise<void> {
    const { client, signal } = this.#options
    const unfinished = unfinishedStates.reduce((sum, state) => sum + counts[state], 0)
    const isStalled = isLast || JSON.stringify(counts) === this.#lastCounts
    this.#lastCounts = JSON.stringify(counts)
    if (unfinished === 0 || (unfinished > maxNamed && !isStalled)) return
    let named = 0
    for (const state of unfinishedStates.filter((state) => counts[state] > 0)) {
      for await (const execution of client.executions.list(
        { runId, execState: state, limit: maxNamed },
        { signal },
      )) {
        await this.#sayWhy(execution, unfinished)
        if (++named >= (unfinished > maxNamed ? 1 : maxNamed)) return
      }
    }
  }

  async #sayWhy({ jobExecutionId, deviceId }: Execution, unfinished: number): Promise<void> {
    const { client, say, signal } = this.#options
    const { code, text, execState } = await client.executions.explain(jobExecutionId, { signal })
    const key = `${jobExecutionId} ${code}`
    if (isEnd(execState) || this.#said.has(key)) return
    this.#said.add(key)
    const others = unfinished > maxNamed ? ` and ${unfinished - 1} others` : ''
    say(`Waiting for ${plainText(deviceId)}${others}: ${plainText(text)} (execution ${jobExecutionId})`)
  }
}
