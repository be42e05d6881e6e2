// Runs a device's executions one at a time (workflow A of the protocol): requests the next when it comes online or is
// notified, works on it, and reports.

import { chanceOf } from './chance.ts'
import type { DeviceMessage } from './device-line.ts'
import type { TellFleet } from './fleet-event.ts'
import type { Pattern } from './pattern.ts'
import { planWork } from './plan-work.ts'
import type { Appointment, Schedule } from './schedule.ts'
import { type Execution, type Publish, Work } from './work.ts'

type WorkerDeps = {
  schedule: Schedule
  seed: number
  tell: TellFleet
  /** Repeats requests that nobody answers. Undefined: without an answer, the connection ends. */
  repeatAfterMs: number | undefined
}

const tryAgainMs = { from: 500, to: 1500 }
const maxRepeatMs = 15 * 60_000

export class Worker {
  readonly #deviceId: string
  readonly #deps: WorkerDeps
  readonly #pattern: Pattern
  readonly #publish: Publish
  #work: Work | undefined
  #isAsking = false
  #hasNews = false
  #repeat: Appointment | undefined
  #repeats = 0

  constructor(deps: WorkerDeps, deviceId: string, pattern: Pattern, publish: Publish) {
    this.#deps = deps
    this.#deviceId = deviceId
    this.#pattern = pattern
    this.#publish = publish
  }

  /** The answer also says whether the current execution is still in progress. */
  cameOnline(): void {
    this.#isAsking = false
    this.#work?.cameOnline()
    this.#ask()
  }

  said(suffix: string, message: DeviceMessage): void {
    switch (suffix) {
      case 'notify-next':
        if (message.execution) this.#news()
        return
      case 'start-next/accepted':
        this.#answered()
        this.#isAsking = false
        this.#next(message.execution)
        return
      case 'start-next/rejected':
        this.#answered()
        this.#isAsking = false
        this.#later(() => this.#ask())
        return
    }
    const work = this.#work
    const [jobId = '', ...what] = suffix.split('/')
    if (work?.jobId === jobId) this.#saidOf(work, what.join('/'), message)
  }

  #saidOf(work: Work, what: string, message: DeviceMessage): void {
    switch (what) {
      case 'cancel':
        // 0: it has already ended, so no report is needed.
        if (message.deadlineSeconds === 0) this.#abandon(work)
        else work.cancel()
        return
      case 'update/accepted':
        if (work.isAboutEnd(message)) this.#ended(work)
        return
      case 'update/rejected':
        this.#reportRefused(work, message)
        return
      case 'output/rejected':
        this.#later(() => work.sayAgain())
    }
  }

  #news(): void {
    this.#hasNews = true
    if (!this.#work) this.#ask()
  }

  #ask(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#hasNews = false
    this.#publish('start-next', {})
    this.#awaitAnswer()
  }

  #awaitAnswer(): void {
    const { repeatAfterMs, schedule } = this.#deps
    if (repeatAfterMs === undefined) return
    schedule.cancel(this.#repeat)
    const waitMs = Math.min(maxRepeatMs, repeatAfterMs * 2 ** this.#repeats)
    this.#repeat = schedule.after(waitMs * (0.5 + Math.random()), () => this.#repeatUnanswered())
  }

  #repeatUnanswered(): void {
    this.#repeats++
    if (this.#isAsking) {
      this.#isAsking = false
      this.#ask()
    } else this.#work?.sayAgain()
  }

  #answered(): void {
    this.#repeats = 0
    this.#deps.schedule.cancel(this.#repeat)
  }

  #next(execution: Execution | undefined): void {
    const work = this.#work
    if (work?.isOn(execution)) {
      work.sayAgain()
      return
    }
    if (work) this.#drop(work)
    if (execution) this.#begin(execution)
    else if (this.#hasNews) this.#ask()
  }

  #begin(execution: Execution): void {
    const { seed, schedule, tell } = this.#deps
    const chance = chanceOf(seed, `${this.#deviceId} ${execution.jobId} ${execution.executionNumber}`)
    const work = new Work(execution, planWork(this.#pattern, chance), schedule, (suffix, fields) => {
      this.#publish(suffix, fields)
      if (work.end) this.#awaitAnswer()
    })
    this.#work = work
    tell({ kind: 'started', ...this.#subject(work) })
    work.start()
  }

  #reportRefused(work: Work, message: DeviceMessage): void {
    const { code, executionState } = message
    if (code === 'RequestThrottled' || code === 'InternalError') {
      if (work.isAboutEnd(message)) this.#later(() => work.sayAgain())
      return
    }
    // The previous connection may have delivered the report, but not its answer.
    if (work.end && executionState?.status === work.end.status) this.#ended(work)
    else this.#abandon(work)
  }

  #ended(work: Work): void {
    this.#answered()
    this.#work = undefined
    work.stop()
    if (work.end) {
      const { status, statusDetails } = work.end
      const ms = performance.now() - work.begunAt
      const { reason } = statusDetails
      this.#deps.tell({ kind: 'ended', ...this.#subject(work), status, ms, reason })
    }
    // The notification of the next execution may arrive before or after this answer.
    if (this.#hasNews) this.#ask()
  }

  #abandon(work: Work): void {
    this.#drop(work)
    this.#ask()
  }

  #drop(work: Work): void {
    this.#answered()
    this.#work = undefined
    work.stop()
    this.#deps.tell({ kind: 'abandoned', ...this.#subject(work) })
  }

  #later(act: () => void): void {
    const { from, to } = tryAgainMs
    this.#deps.schedule.after(from + Math.random() * (to - from), act)
  }

  #subject({ jobId, document }: Work) {
    return { deviceId: this.#deviceId, jobId, document }
  }
}
