// The port to the database. A step holds as a whole: when its promise resolves, all of it is on disk;
// when it rejects, nothing of it is. A store says what it found; the rest of domain/ says what that means.
// Instants are milliseconds since 1970, of the wall clock unless their type is SteadyInstant. `ownerNo` is the owner's number inside the store.
//
// Each step takes one object or one list. Steps reject with StorageUnavailable when the database or its disk cannot
// be used for now.

import type { ExecState, Retry, Scope } from '@jobcast/contract'
import type {
  DeviceExecution,
  DeviceQueue,
  DeviceReport,
  OutputSlice,
  ReportOutcome,
} from './device-report.ts'
import type { EventFilter, StoredEvent } from './event.ts'
import type { ExecutionEvent, Moment } from './execution.ts'
import type { FleetStore } from './fleet-store.ts'
import type { SteadyInstant, WallInstant } from './instants.ts'
import type { SessionStore } from './session-store.ts'
import type { WebhookStore } from './webhook-store.ts'

export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(`storage is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'StorageUnavailable'
  }
}

/** More is waiting to be written than may wait. Nothing of what was refused is written. */
export class TooMuchWaiting extends Error {
  constructor() {
    super('too much is waiting to be written')
    this.name = 'TooMuchWaiting'
  }
}

export type StoredOwner = { ownerNo: number; ownerId: string; ownerName: string; createdAt: number }

export type StoredApiKey = {
  keyId: string
  ownerNo: number
  ownerId: string
  keyName: string
  secretHash: Uint8Array
  scopes: Scope[]
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  createdAt: number
}

export type NewStoredApiKey = Omit<StoredApiKey, 'ownerId' | 'revokedAt' | 'lastUsedAt'>

export type StoredJobContent = {
  description: string
  document: Record<string, unknown>
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: Retry | null
}

export type StoredJob = StoredJobContent & { jobName: string; createdAt: number; updatedAt: number }

export type JobPut = { ownerNo: number; jobName: string; content: StoredJobContent; at: number }

export type StoredDevice = {
  deviceId: string
  deviceName: string
  tags: string[]
  credentialCreatedAt: number | null
  presence: StoredPresence
  createdAt: number
  updatedAt: number
}

/** How a device is, or was last, connected. */
export type Transport = 'mqtt' | 'websocket' | 'http'

export type StoredPresence = {
  online: boolean
  /** Since when it is online or offline; null if it never was online. */
  since: number | null
  lastSeenAt: number | null
  transport: Transport | null
}

/** `session`: since when the connection it tells of is open; null if it has none (HTTP). */
export type PresenceChange = DeviceKey & {
  online: boolean
  at: number
  transport: Transport
  session: SteadyInstant | null
}

/** A device as its callers name it. */
export type DeviceKey = { ownerNo: number; deviceId: string }

/** What a device must show to be let in. */
export type DeviceCredential = DeviceKey & { tokenHash: Uint8Array }

export type DevicePut = {
  ownerNo: number
  deviceId: string
  deviceName: string
  tags: string[]
  at: number
}

export type DeviceToken = { tokenId: string; tokenHash: Uint8Array; at: number }

export type StoredEnrollment = {
  enrollmentId: string
  ownerNo: number
  name: string | null
  secretHash: Uint8Array
  maxUses: number
  used: number
  tags: string[]
  deviceIdPrefix: string | null
  expiresAt: number
  revokedAt: number | null
  createdAt: number
}

export type NewStoredEnrollment = Omit<StoredEnrollment, 'used' | 'revokedAt'>

/** A device that shows the token of an enrolment and asks for a token of its own. */
export type Enrolling = {
  enrollmentId: string
  deviceId: string
  /** Of the device if it is made; one that is there keeps its name and its tags. */
  deviceName: string
  token: DeviceToken
  /** Kept with the token, so that whoever lost the answer can ask again. */
  claimHash: Uint8Array | null
}

export type EnrollOutcome =
  | { kind: 'enrolled' }
  /** The enrolment is unknown, expired, revoked or used up. */
  | { kind: 'not-open' }
  /** The device is somebody's already. */
  | { kind: 'taken' }

export type Put<T> = { created: boolean; value: T }

export type Trigger = {
  ownerNo: number
  jobName: string
  /** Distinct, in the order of the answer. */
  deviceIds: string[]
  launchedAt: WallInstant
  /** The same instant on the steady clock. */
  clock: SteadyInstant
  /** The id of the key that triggers. */
  keyId: string
  /** The run whose failures it tries again. */
  retryOf: number | null
  idempotency: { key: string; requestHash: Uint8Array; validAfter: number } | null
}

/** What a trigger call is answered with. Execution i of devices has the id firstExecutionId + i. */
export type LaunchedRun = {
  runId: number
  jobName: string
  launchedAt: number
  firstExecutionId: number
  /** Names the version of the job it carries out, for `getDocument`. */
  jobVersion: number
  devices: readonly { deviceId: string; deviceName: string }[]
}

export type TriggerOutcome =
  | { kind: 'created'; run: LaunchedRun }
  /** The idempotency key belongs to this earlier call; nothing was made. */
  | { kind: 'replayed'; run: LaunchedRun }
  /** As `replayed`, but what was answered then cannot be read right now. */
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'idempotency-key-reused' }
  | { kind: 'unknown-job' }
  | { kind: 'unknown-device'; deviceIds: string[] }

export type StoredExecution = {
  jobExecutionId: number
  jobName: string
  deviceId: string
  deviceName: string
  execState: ExecState
  launchedAt: WallInstant
  runId: number
  attempt: number
  versionNumber: number
  startedAt: WallInstant | null
  finishedAt: WallInstant | null
  notifiedAt: WallInstant | null
  deliveredAt: WallInstant | null
  /** Waits for a retry until then. */
  notBefore: SteadyInstant | null
  statusDetails: Record<string, string>
  result: unknown
  outputBytes: number
  /** There was more output than is kept. */
  outputCut: boolean
}

export type StoredRun = {
  runId: number
  jobName: string
  /** Names the version of the job it carries out, for `getDocument`. */
  jobVersion: number
  launchedAt: number
  total: number
  counts: Record<ExecState, number>
  /** The run whose failures it tries again. */
  retryOf: number | null
}

export type ExecutionFilter = {
  jobName?: string
  deviceId?: string
  execState?: ExecState
  runId?: number
  /** From this instant on. */
  launchedAfter?: number
  /** Up to, but not including, this instant. */
  launchedBefore?: number
}

export type ExecutionMove = {
  ownerNo: number
  jobExecutionId: number
  event: ExecutionEvent
  moment: Moment
  actor: string
}

export type MoveOutcome =
  | { kind: 'moved'; execution: StoredExecution; from: ExecState }
  | { kind: 'refused'; execState: ExecState }
  | { kind: 'unknown-execution' }

/** Whatever a step moved: whose queue is another now, and whether a device must stop working on it. */
export type Moved = DeviceKey & {
  jobExecutionId: number
  runId: number
  from: ExecState
  execState: ExecState
}

/** One step in the life of an execution: when, who and why. `versionNumber` is what it was after the step. */
export type StoredTransition = {
  at: WallInstant
  from: ExecState | null
  to: ExecState
  event: ExecutionEvent | 'trigger'
  /** `key <keyId>`, `device`, `clock`. */
  actor: string
  attempt: number
  versionNumber: number
}

/** A slice of a list. `after` is where the slice before ended, undefined for the first. */
export type Slice<Key> = { after: Key | undefined; limit: number }
/** `next` is where the next slice starts after; undefined at the end of the list. */
export type Sliced<T, Key> = { items: T[]; next: Key | undefined }

/** A slice of what an owner has. */
export type OwnerList<Key> = { ownerNo: number; slice: Slice<Key> }
export type JobKey = { ownerNo: number; jobName: string }
export type RunKey = { ownerNo: number; runId: number }
export type ExecutionKey = { ownerNo: number; jobExecutionId: number }

export type Store = StoreSteps & WebhookStore & SessionStore & FleetStore

type StoreSteps = {
  /** Rejects when the database cannot be written right now. */
  checkHealth(): Promise<void>

  createOwner(owner: Omit<StoredOwner, 'ownerNo'>): Promise<StoredOwner | 'name-taken'>
  findOwner(owner: { ownerId: string }): Promise<StoredOwner | undefined>
  listOwners(slice: Slice<number>): Promise<Sliced<StoredOwner, number>>

  /** Makes the owner if there is none, and this key of the first owner if that has none; false if it has. */
  createFirstKey(first: {
    owner: Omit<StoredOwner, 'ownerNo'>
    key: Omit<NewStoredApiKey, 'ownerNo'>
  }): Promise<boolean>
  createApiKey(key: NewStoredApiKey): Promise<StoredApiKey>
  /** Never stale: a key that was revoked before this call is seen as revoked. */
  findApiKey(key: { keyId: string }): StoredApiKey | undefined | Promise<StoredApiKey | undefined>
  listApiKeys(list: OwnerList<string>): Promise<Sliced<StoredApiKey, string>>
  /** False when this owner (undefined: any owner) has no such key. */
  revokeApiKey(key: { ownerNo: number | undefined; keyId: string; at: number }): Promise<boolean>
  recordKeyUse(uses: { keyId: string; at: number }[]): Promise<void>

  putJob(put: JobPut): Promise<Put<StoredJob>>
  getJob(job: JobKey): Promise<StoredJob | undefined>
  listJobs(list: OwnerList<string>): Promise<Sliced<StoredJob, string>>
  /** Executions of the job that are under way go on. */
  deleteJob(job: JobKey & { at: number }): Promise<boolean>

  putDevices(puts: DevicePut[]): Promise<Put<StoredDevice>[]>
  getDevice(device: DeviceKey): Promise<StoredDevice | undefined>
  listDevices(
    list: OwnerList<string> & { filter: { tag?: string; online?: boolean } },
  ): Promise<Sliced<StoredDevice, string>>
  /** Ends the device's unfinished executions in the same step; undefined: no such device. */
  deleteDevice(device: DeviceKey & { moment: Moment; actor: string }): Promise<Moved[] | undefined>
  /** Replaces the token the device had; null leaves it without one, and no certificate lets it in either. */
  setDeviceToken(device: DeviceKey & { token: DeviceToken | null; at: number }): Promise<boolean>
  /** Whose token has this id. */
  findDeviceByToken(token: { tokenId: string }): Promise<DeviceCredential | undefined>
  /** Whether a certificate of the device lets it in; `ownerName` may also be an ownerId. */
  findDeviceByCertificate(named: { ownerName: string; deviceId: string }): Promise<DeviceKey | undefined>

  createEnrollment(enrollment: NewStoredEnrollment): Promise<StoredEnrollment>
  findEnrollment(enrollment: { enrollmentId: string }): Promise<StoredEnrollment | undefined>
  listEnrollments(list: OwnerList<string>): Promise<Sliced<StoredEnrollment, string>>
  /** False when this owner has no such enrolment. */
  revokeEnrollment(enrollment: { ownerNo: number; enrollmentId: string; at: number }): Promise<boolean>
  /** Judges (judge-enrollment.ts), counts the use, makes the device if there is none and sets its token, as one. */
  enrollDevice(enrolling: Enrolling): Promise<EnrollOutcome>

  recordPresence(changes: PresenceChange[]): Promise<void>
  /** At start: whoever was online when the process before ended is not any more. Where there are nodes, they see to it. */
  setAllOffline(change: { at: number }): Promise<void>

  /** All or nothing for each trigger of the list; one that is refused does not hinder the others. */
  createExecutions(triggers: Trigger[]): Promise<TriggerOutcome[]>
  /** Newest first. A slice may be short, even empty, before the end. */
  listExecutions(
    list: OwnerList<number> & { filter: ExecutionFilter },
  ): Promise<Sliced<StoredExecution, number>>
  getExecution(execution: ExecutionKey): Promise<StoredExecution | undefined>
  moveExecution(move: ExecutionMove): Promise<MoveOutcome>
  /**
   * Moves some executions of the run whose state allows it, in the order of their ids; `next` is where to go on
   * (`from` of the next call), undefined when all were looked at. Undefined: no such run.
   */
  moveRun(
    move: Omit<ExecutionMove, 'jobExecutionId'> & { runId: number; from: number | undefined },
  ): Promise<{ moved: Moved[]; next: number | undefined } | undefined>
  /** Oldest first. Undefined: no such execution. */
  listTransitions(execution: ExecutionKey): Promise<StoredTransition[] | undefined>

  /** Each on its own; one that is refused does not hinder the others. */
  recordReports(reports: DeviceReport[]): Promise<ReportOutcome[]>
  /** 'unchanged' where the mark of the queue is still `unlessMark`; undefined: no such device. */
  readQueues(
    wanted: (DeviceKey & { unlessMark?: number | undefined })[],
  ): Promise<(DeviceQueue | 'unchanged' | undefined)[]>
  getDeviceExecution(execution: DeviceKey & { jobExecutionId: number }): Promise<DeviceExecution | undefined>
  /** The document of a version of a job, as JSON text. */
  getDocument(job: { jobVersion: number }): Promise<string>
  /** Notes when executions were handed to a connection, and when a device confirmed that it has them. */
  recordDeliveries(deliveries: { notified: number[]; delivered: number[]; at: number }): Promise<void>
  /** Moves some of what a clock has run out for; `more` while there may be others. */
  fireClocks(moment: Moment): Promise<{ moved: Moved[]; more: boolean }>
  /** Up to `limit` bytes of output from `offset` on, of the newest attempt unless said; undefined: no such execution. */
  readOutput(
    slice: ExecutionKey & { offset: number; limit: number; attempt: number | undefined },
  ): Promise<OutputSlice | undefined>

  getRun(run: RunKey): Promise<StoredRun | undefined>
  /** Newest first. A slice may be short, even empty, before the end. */
  listRuns(
    list: OwnerList<number> & { filter: { jobName?: string; finished?: boolean } },
  ): Promise<Sliced<StoredRun, number>>

  /** The job of the run, and those of its devices, unless they are gone, whose execution is in one of `unsuccessfulEnds`. */
  listUnsuccessful(run: RunKey): Promise<{ jobName: string; deviceIds: string[] } | undefined>

  /**
   * Of the events behind `after`, oldest first, up to `limit` that pass the filter. Looks at some thousand at most:
   * all up to `upTo` were looked at, and there may be `more` behind it.
   */
  listEvents(list: {
    ownerNo: number
    filter: EventFilter
    slice: { after: number; limit: number }
  }): Promise<{ events: StoredEvent[]; upTo: number; more: boolean }>
  getEvent(event: { ownerNo: number; eventId: number }): Promise<StoredEvent | undefined>
  /** The id of the owner's newest event, and up to which they are forgotten; 0 if there is none. */
  getEventBounds(owner: { ownerNo: number }): Promise<{ newest: number; forgotten: number }>
  /** The id of the owner's last event before an instant; 0 if there is none. */
  findEventBefore(instant: { ownerNo: number; at: number }): Promise<number>
  /** The listener is called when there are new events, once for many. */
  onEvents(listener: () => void): void
  /** Purges some of them; true while there may be more. */
  purgeEvents(age: { olderThan: number }): Promise<boolean>

  /**
   * Purges some of the runs whose last execution ended before that instant, each as a whole: with its executions,
   * their history and output, the names devices had then, and answers kept for a repeated call. What is purged is
   * unknown from then on; its space is freed in later calls. True while there may be more.
   */
  purgeRuns(age: { endedBefore: number }): Promise<boolean>

  /** Purges some of them; true while there may be more. */
  purgeIdempotencyKeys(age: { olderThan: number }): Promise<boolean>
  /** What was sent before is done; what is sent later rejects with StorageUnavailable. May be called twice. */
  close(): Promise<void>
}
