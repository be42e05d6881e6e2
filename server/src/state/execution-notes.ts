// Reports which executions have started and ended, with the name of their job. Job names are cached, because the name of a
// version never changes.

import type { ExecState } from '@jobcast/contract'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceExecution, ReportOutcome } from '../domain/execution/device-report.ts'
import { isTerminal } from '../domain/execution/execution.ts'
import type { Moved } from '../domain/execution/ports/executions.ts'
import type { RunTraces } from './run-traces.ts'

/** `ms`: of a start, since the trigger; of an end, since the start, if it started and the device reported the end. */
export type ExecutionNote =
  | { kind: 'execution-started'; jobName: string; ms: number }
  | { kind: 'execution-ended'; jobName: string; execState: ExecState; ms: number | undefined }

type Tell = (note: ExecutionNote) => void

const maxNames = 10_000

export class ExecutionNotes {
  readonly #store: Pick<Store, 'getJobOfVersion' | 'getRun'>
  readonly #tell: Tell
  readonly #traces: RunTraces
  readonly #names = new Map<number, string>()

  constructor(store: Pick<Store, 'getJobOfVersion' | 'getRun'>, tell: Tell, traces: RunTraces) {
    this.#store = store
    this.#tell = tell
    this.#traces = traces
  }

  /** Executions moved by reports of their devices. */
  reported(outcomes: readonly ReportOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind !== 'done' || outcome.moved === undefined) continue
      const { execution, moved } = outcome
      const name = this.#names.get(execution.jobVersion)
      if (name !== undefined) this.#note(name, execution, moved)
      else
        this.#inBackground(
          this.#read(execution.jobVersion).then((each) => this.#note(each, execution, moved)),
        )
    }
  }

  /** Executions moved by a clock or an owner. */
  taken(moved: readonly Moved[]): void {
    const byRun = Map.groupBy(
      moved.filter(({ execState }) => isTerminal(execState)),
      ({ runId }) => runId,
    )
    for (const [runId, ended] of byRun) {
      const ownerNo = ended[0]?.ownerNo ?? 0
      this.#inBackground(
        this.#store.getRun({ ownerNo, runId }).then((run) => {
          for (const { execState } of run ? ended : []) {
            this.#tell({ kind: 'execution-ended', jobName: run?.jobName ?? '', execState, ms: undefined })
          }
        }),
      )
    }
  }

  clear(): void {
    this.#names.clear()
  }

  #note(jobName: string, execution: DeviceExecution, moved: Moved): void {
    const { execState, from } = moved
    this.#traces.ended(jobName, execution, moved)
    const { startedAt, launchedAt, updatedAt } = execution
    if (execState === 'IN_PROGRESS' && from === 'PENDING' && startedAt !== null)
      this.#tell({ kind: 'execution-started', jobName, ms: startedAt - launchedAt })
    if (!isTerminal(execState)) return
    const ms = startedAt === null ? undefined : updatedAt - startedAt
    this.#tell({ kind: 'execution-ended', jobName, execState, ms })
  }

  async #read(jobVersion: number): Promise<string> {
    const name = (await this.#store.getJobOfVersion({ jobVersion })) ?? ''
    if (this.#names.size >= maxNames) this.#names.clear()
    this.#names.set(jobVersion, name)
    return name
  }

  /** Failures are ignored: an unavailable database is reported elsewhere. */
  #inBackground(counting: Promise<void>): void {
    counting.catch(() => undefined)
  }
}
