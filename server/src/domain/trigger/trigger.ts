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
  /** In the order of the response; a device named twice counts at its first position. */
  deviceIds: string[]
  launchedAt: WallInstant
  /** The same instant on the steady clock. */
  clock: SteadyInstant
  /** The id of the key that triggers. */
  keyId: string
  /** For the audit. */
  origin?: Origin
  /** Set if the key comes from the cache (`cachedApiKey`). */
  keyAsOf?: string
  /** The run whose failures it retries. */
  retryOf: number | null
  /** Idempotency keys expire by the steady clock, which all nodes share, so setting a wall clock cannot cause a second run. */
  idempotency: {
    key: string
    requestHash: Uint8Array
    madeAt: SteadyInstant
    /** Keys created before this instant have expired. */
    validAfter: SteadyInstant
  } | null
  /** Undefined: the run is offered at once. Devices are in the order of their release. */
  plan?: TriggerPlan
  /** Undefined: nothing but a list of devices. */
  request?: RunRequest
  /** The window in which it is offered, or `anyTime`; null: none, undefined: as the job defines. */
  window?: string | null
  /** Priority of its executions; undefined: as the job defines. */
  priority?: number
  /** The requested version of the job; undefined: the current one. */
  pinned?: RunJob
  /** Values of its parameters; undefined: not yet known whether it needs any. */
  values?: RunValues
  /** Lineages of principals involved besides the key, such as those who put or fired its schedule. */
  hands?: string[]
  /** Checked only if the job and devices exist and the call is not a repeated one. */
  quota?: TriggerQuota
}

/** The part of a job version that concerns its runs. */
export type RunJob = {
  jobNo: number
  versionNo: number
  expireAfterSeconds: number | null
  deadlineSeconds: number | null
  /** The version has parameters or placeholders, so its runs need values. */
  needsValues?: true
  /** The version that defines the release, if it is another one. */
  releasedBy?: number
} & Pick<StoredJobContent, 'rollout' | 'approval' | 'window' | 'priority'>

/** `jobVersion`: the version of the job that it follows; null: it does not depend on the job. */
export type TriggerPlan = {
  jobVersion: number | null
  rollout: Rollout
  approval: Approval
  sizes: number[]
  /** Nothing is released before this time. */
  startAt?: WallInstant
  /** Needs no approval even if the job asks for one: it rolls back to the previous version. */
  isExempt?: true
}

/** A run on so many devices that it is written in batches; devices are listed by their number in the store. */
export type LargeTrigger = Omit<Trigger, 'deviceIds'> & { deviceNos: Int32Array }

export type TriggerQuota = {
  /** The owner's quota has no room for it. */
  isOver: boolean
  /** Maximum of unfinished executions per device; 0: no device can have that many. */
  perDevice: number
}

/** The result of a trigger in the store. */
export type TriggerOutcome =
  | { kind: 'created'; run: LaunchedRun }
  /** The idempotency key belongs to this earlier call; nothing was created. */
  | { kind: 'replayed'; run: LaunchedRun }
  /** As `replayed`, but the earlier response cannot be read right now. */
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'idempotency-key-reused' }
  /** Nothing was created: the cached API key is outdated. Look it up again. */
  | { kind: 'key-changed' }
  | { kind: 'unknown-job' }
  | { kind: 'unknown-device'; deviceIds: string[] }
  /** The window that the call names, not that of its job. */
  | { kind: 'unknown-window' }
  /** Nothing was created: the job defines how its runs are released. Retry with a plan. */
  | { kind: 'needs-plan'; jobVersion: number; rollout?: Rollout; approval?: Approval }
  /** Nothing was created: this job version has parameters or placeholders. Retry, pinned to it and with values. */
  | { kind: 'needs-values'; job: RunJob }
  | { kind: 'over-quota' }
  | { kind: 'device-over-quota'; deviceIds: string[] }
