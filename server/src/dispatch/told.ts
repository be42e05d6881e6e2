// What a connected device was told last. Kept small: there is one for each connection.

import type { DeviceSession, SeenQueue } from '../domain/device-link.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/device-report.ts'
import type { SteadyInstant } from '../domain/instants.ts'

const nothing = ''

export class Told {
  readonly session: DeviceSession
  readonly since: SteadyInstant
  /** Of the queue as it was looked at last; undefined: look at it whatever its mark. */
  mark: number | undefined
  isBeingRead = false
  /** How many launches there had been when it was woken last. */
  wokenAt = 0
  /** It was told what the last look found. */
  isCurrent = false
  /** Runs while it may ask by itself. */
  greeting: NodeJS.Timeout | undefined
  /** A connection begins as if it had been told that nothing waits: so it is told of what does. */
  #list = nothing
  #nextId = 0
  #nextAttempt = 0
  #canceled: Set<number> | undefined

  constructor(session: DeviceSession, since: SteadyInstant) {
    this.session = session
    this.since = since
  }

  get wantsAny(): boolean {
    const { list, next, cancel } = this.session.wants
    return list || next || cancel
  }

  /** It was told that nothing waits. Whoever wants nothing but cancels is never told so. */
  get knowsEmpty(): boolean {
    const { list, next } = this.session.wants
    return this.isCurrent && (list || next) && this.#list === nothing && this.#nextId === 0
  }

  /** It was told which one is the next, and wants to know no more: what comes behind that is no news to it. */
  get knowsNext(): boolean {
    const { list, next } = this.session.wants
    return this.isCurrent && next && !list && this.#nextId !== 0
  }

  /** Another execution is in it, or none where one was. That one has started or made progress does not count. */
  isNewList(queue: DeviceQueue): boolean {
    return this.session.wants.list && listText(queue) !== this.#list
  }

  isNewNext(queue: DeviceQueue): boolean {
    const [next] = queue.executions
    const { jobExecutionId = 0, attempt = 0 } = next ?? {}
    return this.session.wants.next && (jobExecutionId !== this.#nextId || attempt !== this.#nextAttempt)
  }

  /** It has asked before it was greeted, and need not be told this. Later on every change is told. */
  see(seen: SeenQueue): void {
    if (this.greeting === undefined) return
    const { wants } = this.session
    const next = 'queue' in seen ? seen.queue.executions[0] : seen.next
    if (wants.next) this.#rememberNext(next)
    if (wants.list && 'queue' in seen) this.#list = listText(seen.queue)
  }

  newCancels({ executions }: DeviceQueue): DeviceExecution[] {
    if (!this.session.wants.cancel) return []
    return executions.filter(
      ({ execState, jobExecutionId }) => execState === 'CANCELING' && !this.#canceled?.has(jobExecutionId),
    )
  }

  /** What a notice of now names. */
  newlySeen(queue: DeviceQueue): DeviceExecution[] {
    if (this.isNewList(queue)) return queue.executions
    return this.isNewNext(queue) ? queue.executions.slice(0, 1) : []
  }

  /** What the device does not want it was not told: it is news once it wants it. */
  remember(queue: DeviceQueue): void {
    const { wants } = this.session
    this.#list = wants.list ? listText(queue) : nothing
    this.#rememberNext(wants.next ? queue.executions[0] : undefined)
    this.mark = queue.mark
    this.isCurrent = true
    const canceling = queue.executions.filter(({ execState }) => execState === 'CANCELING')
    this.#canceled =
      wants.cancel && canceling.length > 0
        ? new Set(canceling.map(({ jobExecutionId }) => jobExecutionId))
        : undefined
  }

  #rememberNext(next: DeviceExecution | undefined): void {
    this.#nextId = next?.jobExecutionId ?? 0
    this.#nextAttempt = next?.attempt ?? 0
  }
}

function listText({ executions, total }: DeviceQueue): string {
  const [only] = executions
  if (only === undefined) return nothing
  if (executions.length === 1) return `${total}: ${attemptText(only)}`
  return `${total}: ${executions.map(attemptText).toSorted().join(' ')}`
}

function attemptText({ jobExecutionId, attempt }: DeviceExecution): string {
  return `${jobExecutionId}.${attempt}`
}
