// A group of triggers on its way to the writer: names become numbers, ids are given, queues grow.
// If the group fails, its ids leave the queues again; the ids themselves are never given twice.

import type { LaunchedRun, Trigger, TriggerOutcome } from '../../domain/store.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { Known } from './known.ts'
import type { CheckedTrigger, KeyQuestion, RecordedTrigger } from './triggers.ts'

export type LastIds = { runId: number; jobExecutionId: number }

type Launch = { checked: CheckedTrigger; jobName: string; devices: DeviceRef[] }
type Refusal = Extract<TriggerOutcome, { kind: 'unknown-job' | 'unknown-device' }>
type Refused = { refusal: Refusal; question: KeyQuestion | undefined }

/** How many unknown devices an answer names. */
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
  outcomes(recorded: RecordedTrigger[]): TriggerOutcome[] {
    let next = 0
    return this.#entries.map((entry) => {
      const result = questionOf(entry) && recorded[next++]
      if ('refusal' in entry) {
        return result === undefined || result === 'unknown-key' ? entry.refusal : earlierOutcome(result)
      }
      if (result === 'created') return { kind: 'created', run: toRun(entry) }
      if (typeof result === 'object' && 'created' in result) return { kind: 'created', run: result.created }
      leaveQueues(entry)
      return earlierOutcome(result)
    })
  }

  /** Nothing of it was recorded. */
  takeBack(): void {
    for (const entry of this.#entries) if ('checked' in entry) leaveQueues(entry)
  }
}

/** A call that was made before is answered as it was then, even if its job or a device is gone by now. */
function refused({ ownerNo, idempotency }: Trigger, refusal: Refusal): Refused {
  return { refusal, question: idempotency ? { ownerNo, idempotency } : undefined }
}

function questionOf(entry: Launch | Refused): CheckedTrigger | KeyQuestion | undefined {
  return 'refusal' in entry ? entry.question : entry.checked
}

function earlierOutcome(result: RecordedTrigger | undefined): TriggerOutcome {
  if (typeof result === 'object' && 'replayed' in result) return { kind: 'replayed', run: result.replayed }
  return { kind: 'idempotency-key-reused' }
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

  const total = devices.length
  const firstExecutionId = lastIds.jobExecutionId + 1
  const deviceNos = new Int32Array(total)
  devices.forEach((device, index) => {
    deviceNos[index] = device.deviceNo
    device.unfinished.push(firstExecutionId + index)
  })
  lastIds.jobExecutionId += total
  const runId = ++lastIds.runId
  const { jobNo, versionNo } = job
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
      readBack: catalogue.isOneBeingPut(ownerNo, deviceIds),
    },
    jobName: job.jobName,
    devices,
  }
}

function unknownDevices(known: Known<DeviceRef>, deviceIds: string[]): Refusal {
  const unknown = deviceIds.filter((deviceId) => known.get(deviceId) === undefined)
  return { kind: 'unknown-device', deviceIds: unknown.slice(0, namedDevices) }
}

function toRun({ checked, jobName, devices }: Launch): LaunchedRun {
  const { runId, launchedAt, firstExecutionId } = checked
  return { runId, jobName, launchedAt, firstExecutionId, devices }
}

function leaveQueues({ checked, devices }: Launch): void {
  devices.forEach((device, index) => {
    leaveQueue(device.unfinished, checked.firstExecutionId + index)
  })
}

export function leaveQueue(queue: number[], jobExecutionId: number): void {
  const at = placeInQueue(queue, jobExecutionId)
  if (queue[at] === jobExecutionId) queue.splice(at, 1)
}

/** How many of the queue are below the id. Ids only grow, so every queue is sorted. */
export function placeInQueue(queue: readonly number[], jobExecutionId: number): number {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((queue[middle] as number) < jobExecutionId) low = middle + 1
    else high = middle
  }
  return low
}
