// What devices write, while they do: as it is from one device, line by line from several.

import type { Jobcast, TriggeredExecution } from '@jobcast/client'
import { explainError } from '../errors/explain-error.ts'
import { padText, plainText, textWidth } from '../output/text-width.ts'

/** Each is a connection of its own, and nobody reads more than this at once. */
export const mostFollowed = 50

export type OutputSink = {
  /** As it came. */
  raw: (bytes: Uint8Array) => void
  line: (text: string) => void
  /** That it cannot be read; the run goes on. */
  trouble: (text: string) => void
}

type Followed = Pick<TriggeredExecution, 'jobExecutionId' | 'deviceId'>

/** Resolves when all have ended, or with the signal. */
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
      if (!signal.aborted) sink.trouble(`${name} | ${explainError(error)}`)
    }
    lines.end()
  }
  await Promise.all(executions.map(follow))
}

/** A line is given when it is whole; the last one may lack its end. */
export class LineSplitter {
  readonly #decoder = new TextDecoder()
  readonly #onLine: (line: string) => void
  #rest = ''

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  readonly push = (bytes: Uint8Array): void => {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.replace(/\r$/, ''))
  }

  end(): void {
    if (this.#rest !== '') this.#onLine(this.#rest)
    this.#rest = ''
  }
}
