// Prepares a group of triggers for the writer: replaces names by numbers, assigns ids, and adds these to the queues.
// If the group fails, its ids are removed from the queues, and never assigned again. The ids of a repeated call are used for the
// next call, unless others were assigned meanwhile.

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
  /** An earlier write may change the name of one of its devices, so the response is read from disk. */
  readBack: boolean
  /** Removes the run from the held ones, if it is held. */
  undoHold: (() => void) | undefined
}
/** A repeated call gets the response of the first one, even if its job or a device was deleted meanwhile. */
type Refused = { question: KeyQuestion; refusal: Refusal }
/** A large run may be refused while it is being written. */
type Recorded = RecordedTrigger | Refusal
type ReadRun = (runId: number) => Promise<LaunchedRun>

export class TriggerGroup {
  readonly #entries: (Launch | Refused)[]
  readonly #lastIds: LastIds
  readonly #isLarge: boolean

  /** `ahead`: for a large trigger, which must be the only one. */
  constructor(catalogue: Catalogue, lastIds: LastIds, triggers: Trigger[], ahead?: FoundAhead) {
    this.#lastIds = lastIds
    this.#isLarge = ahead !== undefined
    this.#entries = triggers.map((trigger) => launch(catalogue, lastIds, trigger, ahead))
  }

  /** The request to the writer for each trigger: a record or a lookup; none if all triggers are refused. */
  get questions(): (CheckedTrigger | KeyQuestion)[] {
    const all = this.#entries.map(({ question }) => question)
    return all.some((question) => 'runId' in question || question.idempotency) ? all : []
  }

  /** The outcomes after the writer has recorded the group, in the order of the triggers. */
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

  /** Only for ids that were never visible or written: a large run may have left a draft. */
  #giveBack({ firstExecutionId, runId, devices }: LaunchedRun): void {
    const total = devices.length
    const isLast = this.#lastIds.jobExecutionId === firstExecutionId + total - 1
    if (!isLast || this.#lastIds.runId !== runId || this.#isLarge) return
    this.#lastIds.runId--
    this.#lastIds.jobExecutionId -= total
  }

  /** Called if the group was not recorded. */
  undoHold(): void {
    for (const entry of this.#entries) settle(entry, false)
  }
}

const keyUnknown: RecordedTrigger = { kind: 'key-unknown' }
const wasCreated: RecordedTrigger = { kind: 'created' }

/** Never rejects: the group is on disk, and after an error it would be written again. */
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

/** Must be called before the run becomes visible. */
export function holdBack({ held, windows, priorities }: Catalogue, run: NewRun): void {
  const { ownerNo, runId, firstExecutionId: from, total, rollout, window, priority } = run
  const to = from + total
  if (rollout) held.hold(runId, from, to)
  if (window !== undefined) windows.add({ ownerNo, runId, from, to, windowName: window, unfinished: total })
  if (priority !== undefined) priorities.add({ runId, from, to, priority, unfinished: total })
}

/** Called if the run was not recorded. */
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
