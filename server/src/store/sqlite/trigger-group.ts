// A group of triggers on its way to the writer: names become numbers, ids are given, queues grow.
// If the group fails, its ids leave the queues again; the ids themselves are never given twice.

import type { LaunchedRun, Trigger, TriggerOutcome } from '../../domain/store.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { CheckedTrigger, RecordedTrigger } from './triggers.ts'

export type LastIds = { runId: number; jobExecutionId: number }

type Launch = { checked: CheckedTrigger; jobName: string; devices: DeviceRef[] }
type Refusal = Extract<TriggerOutcome, { kind: 'unknown-job' | 'unknown-device' }>

/** How many unknown devices an answer names. */
const namedDevices = 100

export class TriggerGroup {
  readonly #entries: (Launch | Refusal)[]

  constructor(catalogue: Catalogue, lastIds: LastIds, triggers: Trigger[]) {
    this.#entries = triggers.map((trigger) => launch(catalogue, lastIds, trigger))
  }

  /** What the writer has to record. */
  get checked(): CheckedTrigger[] {
    return this.#launches().map((entry) => entry.checked)
  }

  /** The writer has recorded it: what became of each trigger, in the order of the triggers. */
  outcomes(recorded: RecordedTrigger[]): TriggerOutcome[] {
    let next = 0
    return this.#entries.map((entry) => {
      if ('kind' in entry) return entry
      const result = recorded[next++]
      if (result === 'created') return { kind: 'created', run: toRun(entry) }
      leaveQueues(entry)
      if (result === undefined || typeof result === 'string') return { kind: 'idempotency-key-reused' }
      return { kind: 'replayed', run: result.replayed }
    })
  }

  /** Nothing of it was recorded. */
  takeBack(): void {
    for (const entry of this.#launches()) leaveQueues(entry)
  }

  #launches(): Launch[] {
    return this.#entries.filter((entry): entry is Launch => !('kind' in entry))
  }
}

function launch(catalogue: Catalogue, lastIds: LastIds, trigger: Trigger): Launch | Refusal {
  const { ownerNo, jobName, deviceIds, launchedAt, idempotency } = trigger
  const job = catalogue.jobs(ownerNo).get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }

  // Rule 3: one foreign device fails the whole call, so all are looked up before anything is given away.
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
    },
    jobName: job.jobName,
    devices,
  }
}

function unknownDevices(known: ReadonlyMap<string, DeviceRef>, deviceIds: string[]): Refusal {
  const unknown = deviceIds.filter((deviceId) => !known.has(deviceId))
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
  const at = queue.indexOf(jobExecutionId)
  if (at >= 0) queue.splice(at, 1)
}
