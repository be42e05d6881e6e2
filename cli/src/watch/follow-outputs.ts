// Prints the output of devices while they write it: unchanged for one device, line by line for several.

import type { Jobcast, TriggeredExecution } from '@jobcast/client'
import { explainError } from '../errors/explain-error.ts'
import { padText, plainText, textWidth } from '../output/text-width.ts'

/** Each needs its own connection, and nobody can read more at once. */
export const maxFollowed = 50

export type OutputSink = {
  /** Unchanged. */
  raw: (bytes: Uint8Array) => void
  line: (text: string) => void
  /** Reports that output cannot be read; the run continues. */
  problem: (text: string) => void
}

type Followed = Pick<TriggeredExecution, 'jobExecutionId' | 'deviceId'>

/** Resolves when all executions have ended, or on abort. */
export async function followOutputs(
  client: Jobcast,
  executions: readonly Followed[],
  sink: OutputSink,
  signal: AbortSignal,
): Promise<void> {
  const width = Math.max(...executions.map(({ deviceId }) => textWidth(deviceId)))
  const follow = async ({ jobExecutionId, deviceId }: Followed) => {
    const name = padText(plainText(deviceId), width)
    const lines = new LineSplitter((line) => sink.line(`${name} | ${line}`))
    const put = executions.length === 1 ? sink.raw : lines.push
    try {
      for await (const bytes of await client.executions.output(jobExecutionId, { follow: true, signal })) {
        put(bytes)
      }
    } catch (error) {
      if (!signal.aborted) sink.problem(`${name} | ${explainError(error)}`)
    }
    lines.end()
  }
  await Promise.all(executions.map(follow))
}

/** Passes on complete lines, and the last one even without its newline. */
export class LineSplitter {
  readonly #decoder = new TextDecoder()
  readonly #onLine: (line: string) => void
  #incomplete = ''

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  readonly push = (bytes: Uint8Array): void => {
    const lines = (this.#incomplete + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#incomplete = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.replace(/\r$/, ''))
  }

  end(): void {
    if (this.#incomplete !== '') this.#onLine(this.#incomplete)
    this.#incomplete = ''
  }
}
