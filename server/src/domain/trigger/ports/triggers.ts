import type { Rollout } from '@jobcast/contract'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'

import type { StoredJobContent } from '../../job/ports/jobs.ts'
import type { RunRequest, RunValues } from './runs.ts'
import type { WriteOptions } from './write-options.ts'

export type Trigger = {
  ownerNo: number
  jobName: string
  /** In the order of the answer; one that is named twice counts at its first position. */
  deviceIds: string[]
  launchedAt: WallInstant
  /** The same instant on the steady clock. */
  clock: SteadyInstant
  /** The id of the key that triggers. */
  keyId: string
  /** If the key was recalled (`recallApiKey`) and not looked up. */
  keyAsOf?: string
  /** The run whose failures it tries again. */
  retryOf: number | null
  /** Keys live on the steady clock, which all nodes share: no wall clock that is set makes a second run of one. */
  idempotency: {
    key: string
    requestHash: Uint8Array
    madeAt: SteadyInstant
    /** What was made before this has expired. */
    validAfter: SteadyInstant
  } | null
  /** Undefined: it is offered at once. Devices are in the order of their release. */
  plan?: TriggerPlan
  /** Undefined: nothing but a list of devices. */
  request?: RunRequest
  /** The window in which it is offered; null: at any time, undefined: as its job says. */
  window?: string | null
  /** The version of the job that was asked for; undefined: the current one. */
  pinned?: RunJob
  /** Of its parameters; undefined: nobody knows yet whether it needs some. */
  values?: RunValues
  /** Applied to what is neither unknown nor made before. */
  quota?: TriggerQuota
}

/** What of a version of a job decides about its runs. */
export type RunJob = {
  jobNo: number
  versionNo: number
  expireAfterSeconds: number | null
  deadlineSeconds: number | null
  /** It has parameters or placeholders: its runs need values. */
  needsValues?: true
  /** The version that says how it is released, if that is another. */
  releasedBy?: number
} & Pick<StoredJobContent, 'rollout' | 'approval' | 'window'>

/** `jobVersion`: for which version of the job it was made; null: it does not depend on the job. */
export type TriggerPlan = {
  jobVersion: number | null
  rollout: Rollout
  approval: boolean
  sizes: number[]
  /** Nothing is released before. */
  startAt?: WallInstant
  /** It needs no approval even if its job asks for one: it goes back to the version before. */
  isExempt?: true
}
/** A run on so many devices that it is not written at once; its devices are known to the store by number. */
export type LargeTrigger = Omit<Trigger, 'deviceIds'> & { deviceNos: Int32Array }

export type TriggerQuota = {
  /** The owner has no room for it. */
  isOver: boolean
  /** Unfinished executions of a device; 0: none has that many. */
  perDevice: number
}

/** `encoded`: kept by who writes answers; a device that is renamed is another object. */
export type LaunchedDevice = {
  deviceId: string
  deviceName: string
  encoded?: string | Buffer | undefined
}

/** A list of them, or what stands for one: of very many not each is an object. */
export type DeviceList<Device> = Iterable<Device> & {
  readonly length: number
  at(place: number): Device | undefined
  entries(): IterableIterator<[number, Device]>
  map<Value>(toValue: (device: Device, place: number) => Value): Value[]
  forEach(look: (device: Device, place: number) => void): void
  every(isSo: (device: Device, place: number) => boolean): boolean
}

/** What a trigger call is answered with. Execution i of devices has the id firstExecutionId + i. */
export type LaunchedRun = {
  runId: number
  jobName: string
  launchedAt: number
  firstExecutionId: number
  /** Names the version of the job it carries out, for `getDocument`. */
  jobVersion: number
  /** Of a large run, none. */
  devices: DeviceList<LaunchedDevice>
  /** Nothing of it may be offered before it is released. */
  isHeld?: true
  /** It may be offered to a device only while a window is open there. */
  isWindowed?: true
  /** Positions in `devices`, in the order of the answer, if that is another. */
  order?: readonly number[]
  /** Of the trace that it belongs to. */
  traceParent?: string
  /** An earlier call with the same idempotency key has made it. */
  isReplayed?: true
}

export type TriggerOutcome =
  | { kind: 'created'; run: LaunchedRun }
  /** The idempotency key belongs to this earlier call; nothing was made. */
  | { kind: 'replayed'; run: LaunchedRun }
  /** As `replayed`, but what was answered then cannot be read right now. */
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'idempotency-key-reused' }
  /** Nothing was made: the key that was recalled is not any more what it was. Look it up. */
  | { kind: 'key-changed' }
  | { kind: 'unknown-job' }
  | { kind: 'unknown-device'; deviceIds: string[] }
  /** The one that it names, not that of its job. */
  | { kind: 'unknown-window' }
  /** Nothing was made: its job says how its runs are released. Send it again with a plan. */
  | { kind: 'needs-plan'; jobVersion: number; rollout?: Rollout; approval?: true }
  /** Nothing was made: this version of its job has parameters or placeholders. Send it again, pinned and with values. */
  | { kind: 'needs-values'; job: RunJob }
  | { kind: 'over-quota' }
  | { kind: 'device-over-quota'; deviceIds: string[] }

export type TriggerStore = {
  /** All or nothing for each trigger of the list; one that is refused does not hinder the others. */
  createExecutions(triggers: Trigger[], options?: WriteOptions): Promise<TriggerOutcome[]>
  /**
   * All or nothing, written a batch at a time. Executions of devices that are deleted meanwhile have ended when the run
   * becomes visible, also of those that are put again.
   */
  createLargeRun(trigger: LargeTrigger): Promise<TriggerOutcome>
  /** Ends some executions that an earlier process has left to devices that are deleted; none: there are none left. */
  removeGone(gone: { moment: Moment; actor: string }): Promise<Moved[]>
  /** Purges some of them; true while there may be more. */
  purgeIdempotencyKeys(age: { olderThan: SteadyInstant }): Promise<boolean>
}
