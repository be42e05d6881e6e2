// A thread of the embedded store, in this process and in simulated time: it handles one request after the other, may be slow, may
// fail, and may end before it responds.

import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import type { VirtualTime } from './virtual-time.ts'

type Operations = { [name: string]: (input: never) => unknown }
type Listener = { onEvents(): void; onMoved(moves: Moves): void; onZones(changes: Moves): void }
// biome-ignore lint/suspicious/noExplicitAny: passed on as it is
type Moves = any
type Question = {
  name: string
  input: unknown
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}
type Answer = () => void

export type ThreadFault = 'unavailable' | 'error' | 'committed-error' | undefined

export type ThreadConditions = {
  /** How long the next step takes, in milliseconds. */
  stepMs: () => number
  fault: (name: string) => ThreadFault
  /** What is sent to a thread, or by it. */
  copy: <T>(message: T) => T
}

export class SimulatedThread {
  listener: Listener = {
    onEvents: () => undefined,
    onMoved: () => undefined,
    onZones: () => undefined,
  }
  readonly #operations: Operations
  readonly #time: VirtualTime
  readonly #conditions: ThreadConditions
  readonly #questions: Question[] = []
  #isBusy = false
  #isGone = false
  #unanswered = 0
  #answeredAt = 0
  #effects: { events: boolean; moves: Moves; zones?: Moves } = { events: false, moves: undefined }

  /** `prepare` gets the listener for effects of writes. */
  constructor(prepare: (listener: Listener) => object, time: VirtualTime, conditions: ThreadConditions) {
    this.#time = time
    this.#conditions = conditions
    this.#operations = prepare({
      onEvents: () => {
        this.#effects.events = true
      },
      onMoved: ({ moved, delayedIds }) => {
        this.#effects.moves = conditions.copy({ moved, delayedIds })
      },
      onZones: (changes) => {
        this.#effects.zones = [...(this.#effects.zones ?? []), ...conditions.copy(changes)]
      },
    }) as Operations
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the real one, whose types say what each step takes and gives
  readonly call = (name: string, input: unknown): Promise<any> =>
    new Promise((resolve, reject) => {
      if (this.#isGone) return
      this.#unanswered++
      this.#questions.push({ name, input: this.#conditions.copy(input), resolve, reject })
      this.#proceed()
    })

  /** Everything that it was asked is done and answered. */
  get isIdle(): boolean {
    return this.#unanswered === 0
  }

  /** Its process is killed: what it has not begun never happens, and what it has done it tells nobody. */
  kill(): void {
    this.#isGone = true
    this.#questions.length = 0
  }

  readonly close = async (): Promise<void> => this.kill()

  #proceed(): void {
    if (this.#isBusy) return
    const question = this.#questions.shift()
    if (question === undefined) return
    this.#isBusy = true
    this.#time.after(this.#conditions.stepMs(), () => void this.#serve(question))
  }

  async #serve({ name, input, resolve, reject }: Question): Promise<void> {
    if (this.#isGone) return
    this.#effects = { events: false, moves: undefined }
    let answer: Answer
    try {
      const fault = this.#conditions.fault(name)
      if (fault === 'unavailable') throw new StorageUnavailable('simulated')
      if (fault === 'error') throw new Error('simulated')
      const value = this.#conditions.copy(await this.#operations[name]?.(input as never))
      if (fault === 'committed-error') throw new Error('simulated, after the commit')
      const { events, moves, zones } = this.#effects
      answer = () => {
        if (moves) this.listener.onMoved(moves)
        if (zones) this.listener.onZones(zones)
        resolve(value)
        if (events) this.listener.onEvents()
      }
    } catch (error) {
      answer = () => reject(error as Error)
    }
    // Answers come in the order of the questions.
    this.#answeredAt = Math.max(this.#answeredAt, this.#time.elapsed + this.#conditions.stepMs())
    this.#time.after(this.#answeredAt - this.#time.elapsed, () => {
      this.#unanswered--
      if (!this.#isGone) answer()
    })
    this.#isBusy = false
    this.#proceed()
  }
}
