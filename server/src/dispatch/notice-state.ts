// What a connected device was last notified of. Kept small: there is one per connection.

import type { SteadyInstant } from '../domain/common/instants.ts'
import type { DeviceSession, SeenQueue } from '../domain/device/ports/device-link.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/execution/device-report.ts'

const nothing = ''

export class NoticeState {
  readonly session: DeviceSession
  readonly since: SteadyInstant
  /** Change mark of the queue at the last read; undefined forces a read. */
  mark: number | undefined
  isBeingRead = false
  /** The launch counter when the device was last woken. */
  wokenAt = 0
  /** The device was notified of the result of the last read. */
  isCurrent = false
  /** Runs while the device may still request its queue by itself. */
  greeting: NodeJS.Timeout | undefined
  /** A connection starts as if notified of an empty queue, so anything queued is new to it. */
  #list = nothing
  #nextId = 0
  #nextAttempt = 0
  #nextVersion = 0
  #nextPriority = 0
  /** Sum of the version numbers of the waiting executions in the list. */
  #waitingVersions = 0
  #canceled: Set<number> | undefined

  constructor(session: DeviceSession, since: SteadyInstant) {
    this.session = session
    this.since = since
  }

  get wantsAny(): boolean {
    const { list, next, cancel } = this.session.wants
    return list || next || cancel
  }

  /** The device was notified that its queue is empty. One subscribed only to cancels never is. */
  get knowsEmpty(): boolean {
    const { list, next } = this.session.wants
    return this.isCurrent && (list || next) && this.#list === nothing && this.#nextId === 0
  }

  /**
   * The new execution is no news: the device was notified of a next execution that comes before it, and is not subscribed to
   * the list.
   */
  knowsNextBefore({ priority }: Pick<DeviceExecution, 'priority'>): boolean {
    const { list, next } = this.session.wants
    return this.isCurrent && next && !list && this.#nextId !== 0 && this.#nextPriority >= priority
  }

  /**
   * An execution was added or removed, or is offered again after its device deferred it. A start or progress does not count.
   */
  isNewList(queue: DeviceQueue): boolean {
    if (!this.session.wants.list) return false
    return listText(queue) !== this.#list || waitingVersions(queue) > this.#waitingVersions
  }

  isNewNext(queue: DeviceQueue): boolean {
    const [next] = queue.executions
    const { jobExecutionId = 0, attempt = 0, execState, versionNumber = 0 } = next ?? {}
    if (!this.session.wants.next) return false
    const isOther = jobExecutionId !== this.#nextId || attempt !== this.#nextAttempt
    return isOther || (execState === 'PENDING' && versionNumber !== this.#nextVersion)
  }

  /** The device requested its queue before it was greeted, so this part is not repeated. Later changes are all sent. */
  see(seen: SeenQueue): void {
    if (this.greeting === undefined) return
    const { wants } = this.session
    const next = 'queue' in seen ? seen.queue.executions[0] : seen.next
    if (wants.next) this.#rememberNext(next)
    if (wants.list && 'queue' in seen) this.#rememberList(seen.queue)
  }

  newCancels({ executions }: DeviceQueue): DeviceExecution[] {
    if (!this.session.wants.cancel) return []
    return executions.filter(
      ({ execState, jobExecutionId }) => execState === 'CANCELING' && !this.#canceled?.has(jobExecutionId),
    )
  }

  /** The executions that a notification sent now would name. */
  newlySeen(queue: DeviceQueue): DeviceExecution[] {
    if (this.isNewList(queue)) return queue.executions
    return this.isNewNext(queue) ? queue.executions.slice(0, 1) : []
  }

  /** Parts that the device is not subscribed to were not sent, so they are news once it subscribes. */
  remember(queue: DeviceQueue): void {
    const { wants } = this.session
    this.#rememberList(wants.list ? queue : undefined)
    this.#rememberNext(wants.next ? queue.executions[0] : undefined)
    this.mark = queue.mark
    this.isCurrent = true
    const canceling = queue.executions.filter(({ execState }) => execState === 'CANCELING')
    this.#canceled =
      wants.cancel && canceling.length > 0
        ? new Set(canceling.map(({ jobExecutionId }) => jobExecutionId))
        : undefined
  }

  /** The execution is the whole queue, and the device was sent the parts it is subscribed to. */
  rememberOnly(execution: DeviceExecution): void {
    const { list, next } = this.session.wants
    this.#list = list ? onlyText(execution, 1) : nothing
    this.#waitingVersions = list ? execution.versionNumber : 0
    this.#rememberNext(next ? execution : undefined)
    this.mark = undefined
    this.isCurrent = true
    this.#canceled = undefined
  }

  #rememberList(queue: DeviceQueue | undefined): void {
    this.#list = queue ? listText(queue) : nothing
    this.#waitingVersions = queue ? waitingVersions(queue) : 0
  }

  #rememberNext(next: DeviceExecution | undefined): void {
    this.#nextId = next?.jobExecutionId ?? 0
    this.#nextAttempt = next?.attempt ?? 0
    this.#nextVersion = next?.versionNumber ?? 0
    this.#nextPriority = next?.priority ?? 0
  }
}

function listText({ executions, total }: DeviceQueue): string {
  const [only] = executions
  if (only === undefined) return nothing
  if (executions.length === 1) return onlyText(only, total)
  return `${total}: ${executions.map(attemptText).toSorted().join(' ')}`
}

function waitingVersions({ executions }: DeviceQueue): number {
  let sum = 0
  for (const { execState, versionNumber } of executions) if (execState === 'PENDING') sum += versionNumber
  return sum
}

function onlyText(execution: DeviceExecution, total: number): string {
  return `${total}: ${attemptText(execution)}`
}

function attemptText({ jobExecutionId, attempt }: DeviceExecution): string {
  return `${jobExecutionId}.${attempt}`
}
