// A trigger: one call that runs a job on devices. It creates a run with one execution for each distinct device, all or
// nothing, and may be repeated with an idempotency key. There are two calls: plain triggers name a job and devices
// (trigger-job.ts, the hot path), runs may also have a selector, parameters, a rollout, a window or a start time
// (create-run.ts, plan-run.ts for the dry run, and start-plan.ts for a run from its plan).
//
// Read next: trigger-job.ts, how a trigger is recorded and what each outcome means; launch-run.ts, what it creates,
// called by every store inside its transaction; run-values.ts and required-attributes.ts, the parameters of a run;
// launch-large-run.ts, more devices than one write holds; retry-run.ts and cancel-run.ts, what can be done with a run.

import type { Approval, Rollout } from '@jobcast/contract'
import type { Origin } from '../audit/ports/entries.ts'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import type { LaunchedRun } from './launched-run.ts'
import type { RunRequest, RunValues } from './ports/runs.ts'

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
  /** For the audit. */
  origin?: Origin
  /** If the key was recalled (`cachedApiKey`) and not looked up. */
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
  /** The window in which it is offered, or `anyTime`; null: none, undefined: as its job says. */
  window?: string | null
  /** Of its executions; undefined: as its job says. */
  priority?: number
  /** The version of the job that was asked for; undefined: the current one. */
  pinned?: RunJob
  /** Of its parameters; undefined: nobody knows yet whether it needs some. */
  values?: RunValues
  /** Lineages of those that have a hand in it beside the key: who put or fired its schedule. */
  hands?: string[]
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
} & Pick<StoredJobContent, 'rollout' | 'approval' | 'window' | 'priority'>

/** `jobVersion`: for which version of the job it was made; null: it does not depend on the job. */
export type TriggerPlan = {
  jobVersion: number | null
  rollout: Rollout
  approval: Approval
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

/** What the store makes of a trigger. */
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
  | { kind: 'needs-plan'; jobVersion: number; rollout?: Rollout; approval?: Approval }
  /** Nothing was made: this version of its job has parameters or placeholders. Send it again, pinned and with values. */
  | { kind: 'needs-values'; job: RunJob }
  | { kind: 'over-quota' }
  | { kind: 'device-over-quota'; deviceIds: string[] }
