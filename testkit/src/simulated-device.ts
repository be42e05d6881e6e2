// A device that works as workflow A of the protocol says: it connects, subscribes to notify-next, starts what is
// next, reports its end, and waits for the next notification. Whatever happens to its connection, it comes back.

import { type Answer, type Json, LineClosed, MqttLine, type SignIn } from './mqtt-line.ts'

export const deviceFilters = ['notify-next', '+/cancel', 'start-next/+', '+/update/+', '+/output/+']

export type SimulatedDeviceOptions = SignIn & {
  /** Where it connects: of the server that runs, or will run next. */
  address: () => Promise<string>
  /** What it does with an execution, up to the report that ends it; LineClosed may fly through. */
  carryOut: (line: MqttLine, execution: Json) => Promise<void>
}

export class SimulatedDevice {
  readonly deviceId: string
  /** The newest one, also when it is closed. */
  line: MqttLine | undefined
  readonly #options: SimulatedDeviceOptions
  #isOver = false
  #news = Promise.withResolvers<void>()

  constructor(options: SimulatedDeviceOptions) {
    this.#options = options
    this.deviceId = options.deviceId
  }

  /** Lives until it is stopped; rejects when the server does what it must not. */
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

/** A report of the connection before may have been served after this one was asked to carry it out. */
export async function succeed(line: MqttLine, { jobId, executionNumber }: Json): Promise<void> {
  const { outcome, json } = await line.request(`${jobId}/update`, { status: 'SUCCEEDED', executionNumber })
  const hasEnded = json.code === 'InvalidStateTransition' && json.executionState.status === 'SUCCEEDED'
  if (outcome === 'rejected' && !hasEnded) throw new Error(`rejected: ${JSON.stringify(json)}`)
}
