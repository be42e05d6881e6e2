// One execution on a device: its output, progress and end. Work continues while the device is offline; reports sent
// meanwhile are lost, and repeated after it reconnects.

import type { DeviceMessage } from './device-line.ts'
import type { End, Step } from './plan-work.ts'
import type { Schedule } from './schedule.ts'

/** Lost when the device is offline. */
export type Publish = (suffix: string, fields: object) => void

export type Execution = NonNullable<DeviceMessage['execution']>

/** Distinguishes the answer to the final report of an execution from those to its progress reports. */
const endToken = 'end'

export class Work {
  readonly jobId: string
  readonly document: Record<string, unknown>
  readonly begunAt = performance.now()
  readonly #executionNumber: number
  readonly #schedule: Schedule
  readonly #publish: Publish
  readonly #steps: Iterator<Step>
  #written = ''
  #end: End | undefined
  #isOver = false

  constructor(execution: Execution, steps: Step[], schedule: Schedule, publish: Publish) {
    this.jobId = execution.jobId
    this.document = execution.jobDocument ?? {}
    this.#executionNumber = execution.executionNumber
    this.#steps = steps.values()
    this.#schedule = schedule
    this.#publish = publish
  }

  /** The last report, confirmed or not. */
  get end(): End | undefined {
    return this.#end
  }

  start(): void {
    this.#continue()
  }

  isOn(execution: Execution | undefined): boolean {
    return execution?.jobId === this.jobId && execution.executionNumber === this.#executionNumber
  }

  isAboutEnd({ clientToken }: DeviceMessage): boolean {
    return clientToken === endToken
  }

  /** The server stores each byte once, so output may be sent again from any offset. */
  sayAgain(): void {
    if (this.#isOver) return
    this.#write(0)
    this.#report()
  }

  /** Output written while offline is lost. It is sent again before the end, which may be reported next. */
  cameOnline(): void {
    if (!this.#isOver) this.#write(0)
  }

  cancel(): void {
    // A result that was already sent takes precedence.
    if (this.#end) return
    this.#end = { status: 'CANCELED', statusDetails: { reason: 'canceled' } }
    this.#report()
  }

  /** Stops all work and reports. */
  stop(): void {
    this.#isOver = true
  }

  #continue(): void {
    const { value: step, done } = this.#steps.next()
    if (done) return
    this.#schedule.after(this.begunAt + step.afterMs - performance.now(), () => {
      if (this.#isOver || this.#end) return
      this.#do(step)
      this.#continue()
    })
  }

  #do(step: Step): void {
    switch (step.kind) {
      case 'write': {
        const offset = this.#written.length
        this.#written += step.text
        this.#write(offset)
        return
      }
      case 'progress':
        this.#update({ status: 'IN_PROGRESS', statusDetails: { progress: `${step.percent}` } })
        return
      case 'end':
        this.#end = step.end
        this.#report()
    }
  }

  /** The output is ASCII, so characters are bytes. */
  #write(offset: number): void {
    const data = this.#written.slice(offset)
    if (data !== '') {
      this.#publish(`${this.jobId}/output`, { offset, data, executionNumber: this.#executionNumber })
    }
  }

  #report(): void {
    if (this.#end) this.#update({ ...this.#end, clientToken: endToken })
  }

  #update(fields: object): void {
    this.#publish(`${this.jobId}/update`, { ...fields, executionNumber: this.#executionNumber })
  }
}
