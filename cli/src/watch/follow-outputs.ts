// Prints the output of devices as they write it: unchanged for one device, line by line for several.

import type { Jobcast, TriggeredExecution } from '@jobcast/client'
import { explainError } from '../errors/explain-error.ts'
import type { OutputFilter } from '../output/terminal-filter.ts'
import { padText, plainText, textWidth } from '../output/text-width.ts'

/** Each one needs its own connection, and nobody can read more at once. */
export const maxFollowed = 50

export type OutputSink = {
  /** The output of a single device. */
  write: (bytes: Uint8Array | string) => void
  /** A line of one of several devices. */
  line: (text: string) => void
  openFilter: () => OutputFilter
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
    const filter = sink.openFilter()
    const lines = new LineSplitter((line) => sink.line(`${name} | ${line}${filter.resetColors()}`))
    const put = executions.length === 1 ? sink.write : lines.push
    try {
      for await (const bytes of await client.executions.output(jobExecutionId, { follow: true, signal })) {
        put(filter.push(bytes))
      }
      put(filter.end())
    } catch (error) {
      if (!signal.aborted) sink.problem(`${name} | ${explainError(error)}`)
    }
    if (executions.length === 1) sink.write(filter.resetColors())
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

  readonly push = (chunk: Uint8Array | string): void => {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true })
    const lines = (this.#incomplete + text).split('\n')
    this.#incomplete = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.replace(/\r$/, ''))
  }

  end(): void {
    if (this.#incomplete !== '') this.#onLine(this.#incomplete)
    this.#incomplete = ''
  }
}
