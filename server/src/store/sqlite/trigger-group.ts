// A group of triggers on its way to the writer: names become numbers, ids are given, queues grow.
// If the group fails, its ids leave the queues again; the ids themselves are never given twice.

import { laterBy } from '../../domain/instants.ts'
import type { LaunchedRun, Trigger, TriggerOutcome, TriggerQuota } from '../../domain/ports/triggers.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { NameIndex } from './name-index.ts'
import type { CheckedTrigger, KeyQuestion, LastIds, RecordedTrigger } from './triggers.ts'

type Launch = {
  checked: CheckedTrigger
  jobName: string
  devices: DeviceRef[]
  /** A write that comes before it may change the name of one of its devices: answer as it is on disk. */
  readBack: boolean
}
type ReadRun = (runId: number) => Promise<LaunchedRun>
type Refusal = Extract<
  TriggerOutcome,
  { kind: 'unknown-job' | 'unknown-device' | 'over-quota' | 'device-over-quota' }
>
type Refused = { refusal: Refusal; question: KeyQuestion | undefined }

/** How many devices a refusal names. */
const namedDevices = 100

export class TriggerGroup {
  readonly #entries: (Launch | Refused)[]

  constructor(catalogue: Catalogue, lastIds: LastIds, triggers: Trigger[]) {
    this.#entries = triggers.map((trigger) => {
      const entry = launch(catalogue, lastIds, trigger)
      return 'kind' in entry ? refused(trigger, entry) : entry
    })
  }

  /** What the writer has to record or to look up. */
  get questions(): (CheckedTrigger | KeyQuestion)[] {
    return this.#entries.flatMap((entry) => questionOf(entry) ?? [])
  }

  /** The writer has recorded it: what became of each trigger, in the order of the triggers. */
  async outcomes(recorded: RecordedTrigger[], readRun: ReadRun): Promise<TriggerOutcome[]> {
    let next = 0
    const results = this.#entries.map((entry) => {
      const result = questionOf(entry) ? (recorded[next++] as RecordedTrigger) : keyUnknown
      if ('checked' in entry) settle(entry, result.kind === 'created')
      return { entry, result }
    })
    const outcomes: TriggerOutcome[] = []
    for (const { entry, result } of results) outcomes.push(await outcomeOf(entry, result, readRun))
    return outcomes
  }

  /** Nothing of it was recorded. */
  takeBack(): void {
    for (const entry of this.#entries) if ('checked' in entry) settle(entry, false)
  }
}

/** A call that was made before is answered as it was then, even if its job or a device is gone by now. */
function refused({ ownerNo, idempotency }: Trigger, refusal: Refusal): Refused {
  return { refusal, question: idempotency ? { ownerNo, idempotency } : undefined }
}

function questionOf(entry: Launch | Refused): CheckedTrigger | KeyQuestion | undefined {
  return 'refusal' in entry ? entry.question : entry.checked
}

const keyUnknown: RecordedTrigger = { kind: 'key-unknown' }

/** Never rejects: the group is on disk by now, and whoever saw it fail would write it once more. */
function outcomeOf(
  entry: Launch | Refused,
  result: RecordedTrigger,
  readRun: ReadRun,
): TriggerOutcome | Promise<TriggerOutcome> {
  if (result.kind === 'key-reused') return { kind: 'idempotency-key-reused' }
  if (result.kind === 'made-before') {
    return readRun(result.runId).then(
      (run) => ({ kind: 'replayed', run }),
      (error: unknown) => ({ kind: 'unreadable', error }),
    )
  }
  if ('refusal' in entry) return entry.refusal
  const created: TriggerOutcome = { kind: 'created', run: toRun(entry) }
  if (!entry.readBack) return created
  return readRun(entry.checked.runId).then(
    (run) => ({ kind: 'created', run }),
    () => created,
  )
}

function launch(catalogue: Catalogue, lastIds: LastIds, trigger: Trigger): Launch | Refusal {
  const { ownerNo, jobName, deviceIds, launchedAt, idempotency } = trigger
  const job = catalogue.jobs(ownerNo).get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }

  // One foreign device fails the whole call, so all are looked up before anything is given away.
  const known = catalogue.devices(ownerNo)
  const devices: DeviceRef[] = []
  for (const deviceId of deviceIds) {
    const device = known.get(deviceId)
    if (device === undefined) return unknownDevices(known, deviceIds)
    devices.push(device)
  }

  const over = refuseOverQuota(trigger.quota, devices)
  if (over) return over

  const total = devices.length
  const firstExecutionId = lastIds.jobExecutionId + 1
  const deviceNos = new Int32Array(total)
  devices.forEach((device, index) => {
    deviceNos[index] = device.deviceNo
    device.queue.announce(firstExecutionId + index)
  })
  lastIds.jobExecutionId += total
  const runId = ++lastIds.runId
  const { jobNo, versionNo, expireAfterSeconds, deadlineSeconds } = job
  const after = (seconds: number | null) => (seconds === null ? null : laterBy(seconds * 1000, trigger.clock))
  return {
    checked: {
      runId,
      ownerNo,
      jobNo,
      versionNo,
      launchedAt,
      firstExecutionId,
      total,
      deviceNos,
      idempotency,
      expireAt: after(expireAfterSeconds),
      deadlineAt: after(deadlineSeconds),
      keyId: trigger.keyId,
      retryOf: trigger.retryOf,
    },
    jobName: job.jobName,
    devices,
    readBack: catalogue.isOneBeingPut(ownerNo, deviceIds),
  }
}

function refuseOverQuota(quota: TriggerQuota | undefined, devices: DeviceRef[]): Refusal | undefined {
  if (quota?.isOver) return { kind: 'over-quota' }
  if (quota === undefined || quota.perDevice === 0) return undefined
  const full = devices.filter(({ queue }) => queue.all.length >= quota.perDevice)
  if (full.length === 0) return undefined
  return { kind: 'device-over-quota', deviceIds: full.slice(0, namedDevices).map(({ deviceId }) => deviceId) }
}

function unknownDevices(known: NameIndex<DeviceRef>, deviceIds: string[]): Refusal {
  const unknown = deviceIds.filter((deviceId) => known.get(deviceId) === undefined)
  return { kind: 'unknown-device', deviceIds: unknown.slice(0, namedDevices) }
}

function toRun({ checked, jobName, devices }: Launch): LaunchedRun {
  const { runId, launchedAt, firstExecutionId, versionNo } = checked
  return { runId, jobName, launchedAt, firstExecutionId, jobVersion: versionNo, devices }
}

function settle({ checked, devices }: Launch, written: boolean): void {
  devices.forEach((device, index) => {
    device.queue.settle(checked.firstExecutionId + index, written)
  })
}
