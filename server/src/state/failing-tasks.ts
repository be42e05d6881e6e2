// Background tasks that fail repeatedly on this node: counted here, and recorded in the database, so that all nodes can show
// them. A failed write is retried with the next failure of the task.

import type { WallInstant } from '../domain/common/instants.ts'
import type { Failing, FailingKind, TaskKey } from '../domain/common/ports/failing-tasks.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { failingForMs, failureInWords } from '../domain/common/read-failing.ts'

type FailingTasksDeps = {
  store: Pick<Store, 'recordFailing' | 'clearFailing'>
  now: () => WallInstant
}

type Kept = TaskKey & Failing & { lastAt: WallInstant; notedAt: WallInstant | undefined }

/** A single failure is not recorded: the next attempt follows at once. */
const timesToNote = 2
const noteEveryMs = 10_000
/** Further tasks are not tracked; so many failures have a common cause. */
const mostKept = 10_000

const kinds: readonly FailingKind[] = ['rollout', 'schedule', 'timers']

export class FailingTasks {
  readonly #deps: FailingTasksDeps
  readonly #kept = new Map<string, Kept>()
  #noting = Promise.resolve()

  constructor(deps: FailingTasksDeps) {
    this.#deps = deps
  }

  /** True if it should be logged: the 1st, 2nd, 4th, 8th … time in a row. */
  failed(task: TaskKey, error: unknown): boolean {
    const lastAt = this.#deps.now()
    const key = textOf(task)
    const before = this.#kept.get(key)
    if (before === undefined && this.#kept.size >= mostKept) return false
    const { since = lastAt, times = 0, notedAt } = before ?? {}
    const kept: Kept = {
      ...{ kind: task.kind, taskNo: task.taskNo, since, lastAt, notedAt },
      ...{ times: times + 1, message: failureInWords(error) },
    }
    this.#kept.set(key, kept)
    const isDue = notedAt === undefined || Math.abs(lastAt - notedAt) >= noteEveryMs
    if (kept.times >= timesToNote && isDue) this.#note(key, kept)
    return Number.isInteger(Math.log2(kept.times))
  }

  succeeded(task: TaskKey): void {
    const key = textOf(task)
    const before = this.#kept.get(key)
    if (before === undefined) return
    this.#kept.delete(key)
    if (before.notedAt === undefined) return
    const { kind, taskNo } = task
    this.#write(() => this.#deps.store.clearFailing({ kind, taskNo }))
  }

  /** Number of repeatedly failing tasks of each kind. */
  counts(): { kind: FailingKind; count: number }[] {
    const now = this.#deps.now()
    // Another node has completed the task since, or the task no longer exists.
    for (const [key, { lastAt }] of this.#kept) if (now - lastAt > failingForMs) this.#kept.delete(key)
    const failing = [...this.#kept.values()].filter(({ times }) => times >= timesToNote)
    return kinds.map((kind) => ({ kind, count: failing.filter((each) => each.kind === kind).length }))
  }

  /** Resolves when all writes are done. */
  quiet(): Promise<void> {
    return this.#noting
  }

  #note(key: string, { notedAt: _, ...task }: Kept): void {
    const kept = this.#kept.get(key)
    if (kept) kept.notedAt = task.lastAt
    this.#write(() => this.#deps.store.recordFailing(task))
  }

  /** Writes in sequence, so that a slow write cannot record a task again after it was cleared. */
  #write(write: () => Promise<void>): void {
    this.#noting = this.#noting.then(write).catch(() => undefined)
  }
}

function textOf({ kind, taskNo }: TaskKey): string {
  return `${kind} ${taskNo}`
}
