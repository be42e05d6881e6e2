// A device that follows workflow A of the protocol: it connects, subscribes to notify-next, starts the next execution,
// reports its end, and waits for the next notification. It reconnects after any loss.

import { type Answer, type Json, LineClosed, MqttLine, type SignIn } from './mqtt-line.ts'

export const deviceFilters = ['notify-next', '+/cancel', 'start-next/+', '+/update/+', '+/output/+']

export type SimulatedDeviceOptions = SignIn & {
  /** The address of the server that runs, or will run next. */
  address: () => Promise<string>
  /** Works on an execution, up to its final report; may throw LineClosed. */
  carryOut: (line: MqttLine, execution: Json) => Promise<void>
}

export class SimulatedDevice {
  readonly deviceId: string
  /** The latest connection, even if it is closed. */
  line: MqttLine | undefined
  readonly #options: SimulatedDeviceOptions
  #isOver = false
  #news = Promise.withResolvers<void>()

  constructor(options: SimulatedDeviceOptions) {
    this.#options = options
    this.deviceId = options.deviceId
  }

  /** Runs until it is stopped; rejects if the server violates the protocol. */
  async live(): Promise<void> {
    while (!this.#isOver) {
      try {
        const line = await MqttLine.open(await this.#options.address(), this.#options)
        this.line = line
        if (this.#isOver) line.cut()
        await this.#work(line)
      } catch (error) {
        if (!(error instanceof LineClosed)) throw error
      }
    }
  }

  stop(): void {
    this.#isOver = true
    this.line?.cut()
  }

  async #work(line: MqttLine): Promise<void> {
    line.onNotice = (suffix, json) => {
      if (suffix === 'notify-next' && json.execution) this.#news.resolve()
    }
    await line.subscribe(...deviceFilters)
    for (;;) {
      this.#news = Promise.withResolvers()
      const { execution } = accepted(await line.request('start-next', {}))
      if (execution) await this.#options.carryOut(line, execution)
      else await Promise.race([this.#news.promise, line.closed])
    }
  }
}

export function accepted({ outcome, json }: Answer): Json {
  if (outcome === 'rejected') throw new Error(`rejected: ${JSON.stringify(json)}`)
  return json
}

/** A report on the previous connection may have been processed after this one got the execution again. */
export async function succeed(line: MqttLine, { jobId, executionNumber }: Json): Promise<void> {
  const { outcome, json } = await line.request(`${jobId}/update`, { status: 'SUCCEEDED', executionNumber })
  const hasEnded = json.code === 'InvalidStateTransition' && json.executionState.status === 'SUCCEEDED'
  if (outcome === 'rejected' && !hasEnded) throw new Error(`rejected: ${JSON.stringify(json)}`)
}
