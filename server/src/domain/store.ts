// The port to the database. A step holds as a whole: when its promise resolves, all of it is on disk;
// when it rejects, nothing of it is. A store says what it found; the rest of domain/ says what that means.
// Instants are milliseconds since 1970. `ownerNo` is the owner's number inside the store.
//
// Steps reject with StorageUnavailable when the database or its disk cannot be used for now.

import type { ExecState, Scope } from '@jobcast/contract'
import type { ExecutionEvent } from './execution.ts'

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
}

export type StoredJob = StoredJobContent & { jobName: string; createdAt: number; updatedAt: number }

export type JobPut = { ownerNo: number; jobName: string; content: StoredJobContent; at: number }

export type StoredDevice = {
  deviceId: string
  deviceName: string
  tags: string[]
  credentialCreatedAt: number | null
  createdAt: number
  updatedAt: number
}

export type DevicePut = {
  ownerNo: number
  deviceId: string
  deviceName: string
  tags: string[]
  at: number
}

export type DeviceToken = { tokenId: string; tokenHash: Uint8Array; at: number }

export type Put<T> = { created: boolean; value: T }

export type Trigger = {
  ownerNo: number
  jobName: string
  /** Distinct, in the order of the answer. */
  deviceIds: string[]
  launchedAt: number
  idempotency: { key: string; requestHash: Uint8Array; validAfter: number } | null
}

/** What a trigger call is answered with. Execution i of devices has the id firstExecutionId + i. */
export type LaunchedRun = {
  runId: number
  jobName: string
  launchedAt: number
  firstExecutionId: number
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
  launchedAt: number
  runId: number
  attempt: number
  versionNumber: number
  startedAt: number | null
  finishedAt: number | null
  notifiedAt: number | null
  deliveredAt: number | null
  statusDetails: Record<string, string>
  result: unknown
}

export type StoredRun = {
  runId: number
  jobName: string
  launchedAt: number
  total: number
  counts: Record<ExecState, number>
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
  at: number
}

export type MoveOutcome =
  | { kind: 'moved'; execution: StoredExecution }
  | { kind: 'refused'; execState: ExecState }
  | { kind: 'unknown-execution' }

/** A slice of a list. `after` is where the slice before ended, undefined for the first. */
export type Slice<Key> = { after: Key | undefined; limit: number }
/** `next` is where the next slice starts after; undefined at the end of the list. */
export type Sliced<T, Key> = { items: T[]; next: Key | undefined }

export type Store = {
  /** Rejects when the database cannot be written right now. */
  checkHealth(): Promise<void>

  createOwner(owner: Omit<StoredOwner, 'ownerNo'>): Promise<StoredOwner | 'name-taken'>
  findOwner(ownerId: string): Promise<StoredOwner | undefined>
  listOwners(slice: Slice<number>): Promise<Sliced<StoredOwner, number>>

  createApiKey(key: NewStoredApiKey): Promise<StoredApiKey>
  /** Never stale: a key that was revoked before this call is seen as revoked. */
  findApiKey(keyId: string): StoredApiKey | undefined | Promise<StoredApiKey | undefined>
  listApiKeys(ownerNo: number, slice: Slice<string>): Promise<Sliced<StoredApiKey, string>>
  /** False when this owner (undefined: any owner) has no such key. */
  revokeApiKey(ownerNo: number | undefined, keyId: string, at: number): Promise<boolean>
  recordKeyUse(uses: { keyId: string; at: number }[]): Promise<void>

  putJob(put: JobPut): Promise<Put<StoredJob>>
  getJob(ownerNo: number, jobName: string): Promise<StoredJob | undefined>
  listJobs(ownerNo: number, slice: Slice<string>): Promise<Sliced<StoredJob, string>>
  /** Executions of the job that are under way go on. */
  deleteJob(ownerNo: number, jobName: string, at: number): Promise<boolean>

  putDevices(puts: DevicePut[]): Promise<Put<StoredDevice>[]>
  getDevice(ownerNo: number, deviceId: string): Promise<StoredDevice | undefined>
  listDevices(
    ownerNo: number,
    filter: { tag?: string },
    slice: Slice<string>,
  ): Promise<Sliced<StoredDevice, string>>
  /** Ends the device's unfinished executions in the same step and names their runs; undefined: no such device. */
  deleteDevice(ownerNo: number, deviceId: string, at: number): Promise<{ runIds: number[] } | undefined>
  /** Replaces the token the device had. */
  setDeviceToken(ownerNo: number, deviceId: string, token: DeviceToken): Promise<boolean>

  /** All or nothing for each trigger of the list; one that is refused does not hinder the others. */
  createExecutions(triggers: Trigger[]): Promise<TriggerOutcome[]>
  /** Newest first. A slice may be short, even empty, before the end. */
  listExecutions(
    ownerNo: number,
    filter: ExecutionFilter,
    slice: Slice<number>,
  ): Promise<Sliced<StoredExecution, number>>
  getExecution(ownerNo: number, jobExecutionId: number): Promise<StoredExecution | undefined>
  moveExecution(move: ExecutionMove): Promise<MoveOutcome>

  getRun(ownerNo: number, runId: number): Promise<StoredRun | undefined>
  listRuns(
    ownerNo: number,
    filter: { jobName?: string },
    slice: Slice<number>,
  ): Promise<Sliced<StoredRun, number>>

  /** Forgets some of them; true while there may be more. */
  forgetIdempotencyKeys(olderThan: number): Promise<boolean>
  /** What was sent before is done; what is sent later rejects with StorageUnavailable. May be called twice. */
  close(): Promise<void>
}
