// A group of triggers on its way to the writer: names become numbers, ids are given, queues grow.
// If the group fails, its ids leave the queues again; the ids themselves are never given twice. Those of a call that was made
// before go to the next call, unless others were given meanwhile.

import {
  findDevices,
  jobOf,
  type NewRun,
  newRun,
  type Refusal,
  refuseOverQuota,
  refuseUnknownWindow,
  refuseUnplanned,
  toLaunchedRun,
} from '../../domain/trigger/launch-run.ts'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import type { Trigger, TriggerOutcome } from '../../domain/trigger/trigger.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { FoundAhead } from './look-up-ahead.ts'
import type { CheckedTrigger, KeyQuestion } from './trigger-message.ts'
import type { LastIds, RecordedTrigger } from './triggers.ts'

type Launch = {
  question: CheckedTrigger
  run: LaunchedRun
  devices: DeviceRef[]
  /** A write that comes before it may change the name of one of its devices: answer as it is on disk. */
  readBack: boolean
  /** It is not held back any more, if it was. */
  undoHold: (() => void) | undefined
}
/** A call that was made before is answered as it was then, even if its job or a device is gone by now. */
type Refused = { question: KeyQuestion; refusal: Refusal }
/** Refused: a large one, while it was being written. */
type Recorded = RecordedTrigger | Refusal
type ReadRun = (runId: number) => Promise<LaunchedRun>

export class TriggerGroup {
  readonly #entries: (Launch | Refused)[]
  readonly #lastIds: LastIds
  readonly #isLarge: boolean

  /** `ahead`: of a large trigger, the only one. */
  constructor(catalogue: Catalogue, lastIds: LastIds, triggers: Trigger[], ahead?: FoundAhead) {
    this.#lastIds = lastIds
    this.#isLarge = ahead !== undefined
    this.#entries = triggers.map((trigger) => launch(catalogue, lastIds, trigger, ahead))
  }

  /** What the writer has to record or to look up, one for each trigger; none if all of it is refused anyway. */
  get questions(): (CheckedTrigger | KeyQuestion)[] {
    const all = this.#entries.map(({ question }) => question)
    return all.some((question) => 'runId' in question || question.idempotency) ? all : []
  }

  /** The writer has recorded it: what became of each trigger, in the order of the triggers. */
  async outcomes(recorded: Recorded[] | 'all-created', readRun: ReadRun): Promise<TriggerOutcome[]> {
    const resultOf = (index: number) =>
      recorded === 'all-created' ? wasCreated : (recorded[index] ?? keyUnknown)
    this.#entries.forEach((entry, index) => {
      settle(entry, resultOf(index).kind === 'created')
    })
    for (const [index, entry] of [...this.#entries.entries()].toReversed()) {
      if (!('refusal' in entry) && resultOf(index).kind !== 'created') this.#giveBack(entry.run)
    }
    const outcomes: TriggerOutcome[] = []
    for (const [index, entry] of this.#entries.entries()) {
      const outcome = outcomeOf(entry, resultOf(index), readRun)
      outcomes.push(outcome instanceof Promise ? await outcome : outcome)
    }
    return outcomes
  }

  /** Nobody has seen them, and nothing was written under them: a large one may have left a draft. */
  #giveBack({ firstExecutionId, runId, devices }: LaunchedRun): void {
    const total = devices.length
    const isLast = this.#lastIds.jobExecutionId === firstExecutionId + total - 1
    if (!isLast || this.#lastIds.runId !== runId || this.#isLarge) return
    this.#lastIds.runId--
    this.#lastIds.jobExecutionId -= total
  }

  /** Nothing of it was recorded. */
  undoHold(): void {
    for (const entry of this.#entries) settle(entry, false)
  }
}

const keyUnknown: RecordedTrigger = { kind: 'key-unknown' }
const wasCreated: RecordedTrigger = { kind: 'created' }

/** Never rejects: the group is on disk by now, and whoever saw it fail would write it once more. */
function outcomeOf(
  entry: Launch | Refused,
  result: Recorded,
  readRun: ReadRun,
): TriggerOutcome | Promise<TriggerOutcome> {
  if (result.kind === 'made-before') {
    return readRun(result.runId).then(
      (run) => ({ kind: 'replayed', run }),
      (error: unknown) => ({ kind: 'unreadable', error }),
    )
  }
  if (result.kind !== 'created' && result.kind !== 'key-unknown') return result
  if ('refusal' in entry) return entry.refusal
  const created: TriggerOutcome = { kind: 'created', run: entry.run }
  if (!entry.readBack) return created
  return readRun(entry.run.runId).then(
    (run) => ({ kind: 'created', run }),
    () => created,
  )
}

function launch(
  catalogue: Catalogue,
  lastIds: LastIds,
  trigger: Trigger,
  ahead: FoundAhead | undefined,
): Launch | Refused {
  const { ownerNo, jobName, deviceIds, idempotency, request, values } = trigger
  const refused = (refusal: Refusal) => ({ refusal, question: { ownerNo, idempotency } })
  const job = jobOf(trigger, catalogue.jobs(ownerNo).get(jobName))
  if (job === undefined) return refused({ kind: 'unknown-job' })
  const known = catalogue.devices(ownerNo)
  const found = ahead?.changes === known.changes ? ahead.devices : undefined
  const devices = findDevices(trigger, (deviceId, at) => (found ? found[at] : known.get(deviceId)))
  if ('kind' in devices) return refused(devices)

  const over = refuseOverQuota(trigger, devices, ({ queue }, most) => queue.all.length >= most)
  if (over) return refused(over)
  const unplanned = refuseUnplanned(trigger, job)
  if (unplanned) return refused(unplanned)
  const noWindow = refuseUnknownWindow(trigger, (...key) => catalogue.windows.has(...key))
  if (noWindow) return refused(noWindow)

  const firstExecutionId = lastIds.jobExecutionId + 1
  const deviceNos = new Int32Array(devices.length)
  devices.forEach((device, index) => {
    deviceNos[index] = device.deviceNo
    device.queue.announce(firstExecutionId + index)
  })
  lastIds.jobExecutionId += devices.length
  const run = newRun(trigger, job, { runId: ++lastIds.runId, firstExecutionId }, devices.length)
  holdBack(catalogue, run)
  return {
    question: { ...run, deviceNos, idempotency, ...(request && { request }), ...(values && { values }) },
    run: toLaunchedRun(run, trigger, devices),
    devices,
    readBack: catalogue.isOneBeingPut(ownerNo, deviceIds),
    undoHold:
      run.rollout || run.window !== undefined || run.priority !== undefined
        ? () => undoHold(catalogue, run)
        : undefined,
  }
}

/** Before it can be seen. */
export function holdBack({ held, windows, priorities }: Catalogue, run: NewRun): void {
  const { ownerNo, runId, firstExecutionId: from, total, rollout, window, priority } = run
  const to = from + total
  if (rollout) held.hold(runId, from, to)
  if (window !== undefined) windows.add({ ownerNo, runId, from, to, windowName: window, unfinished: total })
  if (priority !== undefined) priorities.add({ runId, from, to, priority, unfinished: total })
}

/** It was not recorded. */
export function undoHold({ held, windows, priorities }: Catalogue, { runId }: Pick<NewRun, 'runId'>): void {
  held.drop(runId)
  windows.drop(runId)
  priorities.drop(runId)
}

function settle(entry: Launch | Refused, written: boolean): void {
  if ('refusal' in entry) return
  entry.devices.forEach((device, index) => {
    device.queue.settle(entry.run.firstExecutionId + index, written)
  })
  if (!written) entry.undoHold?.()
}
