// Written by `npm run generate` from docs/openapi.json; do not edit.

export interface AnyEvent {
  /**
   * Below 2^53, only grows; numbers may be left out
   */
  eventId: number
  type:
    | 'run.created'
    | 'run.finished'
    | 'execution.pending'
    | 'execution.in_progress'
    | 'execution.canceling'
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.timed_out'
    | 'execution.rejected'
    | 'execution.expired'
    | 'execution.canceled'
    | 'execution.progress'
    | 'device.created'
    | 'device.updated'
    | 'device.deleted'
    | 'device.online'
    | 'device.offline'
    | 'device.credential_set'
    | 'device.credential_revoked'
  timestamp: string
  data: RunEventData | ExecutionEventData | DeviceEventData
}
/**
 * `run.finished` has the counts, `run.created` has none
 */
export interface RunEventData {
  runId: number
  jobName: string
  /**
   * How many executions it has; all of them begin as PENDING
   */
  total: number
  /**
   * The run whose failures it tries again
   */
  retryOf: number | null
  counts?: {
    PENDING: number
    IN_PROGRESS: number
    CANCELING: number
    SUCCEEDED: number
    FAILED: number
    TIMED_OUT: number
    REJECTED: number
    EXPIRED: number
    CANCELED: number
  }
}

export interface ExecutionEventData {
  jobExecutionId: number
  runId: number
  jobName: string
  deviceId: string
  from:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  execState:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  attempt: number
  /**
   * What it was after this change
   */
  versionNumber: number
  /**
   * What happened, as in its history
   */
  cause: string
  /**
   * Who: `key <keyId>`, `device` or `clock`
   */
  actor: string
  /**
   * What the device said with this change
   */
  statusDetails: {
    [k: string]: string
  }
}
/**
 * `deviceName` and `tags` with `device.created` and `device.updated`; `transport` with `device.online` and `device.offline`
 */
export interface DeviceEventData {
  deviceId: string
  deviceName?: string
  tags?: string[]
  /**
   * Transport by which the device connected or disconnected
   */
  transport?: string
}

export interface ApiKey {
  keyId: string
  keyName: string
  ownerId: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'ADMIN')[]
  expiresAt: string | null
  createdAt: string
  revokedAt: string | null
  /**
   * Within a minute; null while unused
   */
  lastUsedAt: string | null
}

export interface CancelRequest {
  /**
   * Do not wait for the device to confirm
   */
  force?: boolean
}

export interface CreatedApiKey {
  keyId: string
  keyName: string
  ownerId: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'ADMIN')[]
  expiresAt: string | null
  createdAt: string
  revokedAt: string | null
  /**
   * Within a minute; null while unused
   */
  lastUsedAt: string | null
  /**
   * The key itself, shown this once
   */
  apiKey: string
}

export interface CreatedEnrollment {
  enrollmentId: string
  name: string | null
  maxUses: number
  /**
   * How many devices have enrolled
   */
  used: number
  tags: string[]
  deviceIdPrefix: string | null
  expiresAt: string
  createdAt: string
  revokedAt: string | null
  /**
   * What devices show to enrol, shown this once
   */
  enrollmentToken: string
}
/**
 * Created
 */
export interface CreatedWebhook {
  webhookName: string
  url: string
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
  state: 'ACTIVE' | 'PAUSED'
  /**
   * `owner`: by a call. `gone`: the receiver answered 410. `failing`: nothing arrived for a day
   */
  pausedBecause: ('owner' | 'gone' | 'failing') | null
  pausedAt: string | null
  /**
   * When the receiver last accepted an event
   */
  lastDeliveredAt: string | null
  /**
   * Since when it accepts none; null while it does
   */
  failingSince: string | null
  createdAt: string
  updatedAt: string
  /**
   * What events are signed with, shown this once
   */
  secret: string
}

export interface Delivery {
  eventId: number
  type: string
  state: 'PENDING' | 'DELIVERED' | 'FAILED'
  /**
   * Oldest first
   */
  attempts: DeliveryAttempt[]
  nextAttemptAt: string | null
}

export interface DeliveryAttempt {
  at: string
  /**
   * The HTTP status; null if none came
   */
  status: number | null
  /**
   * Why it does not count; null if it does
   */
  error: string | null
  /**
   * How long it took
   */
  ms: number
}

export interface Device {
  deviceId: string
  deviceName: string
  tags: string[]
  /**
   * When its token was made; null while it has none
   */
  credentialCreatedAt: string | null
  online: boolean
  /**
   * Since when it is online or offline; null if it never was online
   */
  since: string | null
  /**
   * When it was heard last
   */
  lastSeenAt: string | null
  /**
   * Transport by which the device is, or was last, connected
   */
  transport: ('mqtt' | 'websocket' | 'http') | null
  createdAt: string
  updatedAt: string
}

export interface DeviceContent {
  deviceName?: string
  /**
   * @maxItems 50
   */
  tags?: string[]
}

export interface DeviceCredential {
  deviceId: string
  /**
   * Shown this once; the token before it is void
   */
  deviceToken: string
}

export interface Enrollment {
  enrollmentId: string
  name: string | null
  maxUses: number
  /**
   * How many devices have enrolled
   */
  used: number
  tags: string[]
  deviceIdPrefix: string | null
  expiresAt: string
  createdAt: string
  revokedAt: string | null
}

export interface Execution {
  /**
   * Identifies the execution; below 2^53, only grows
   */
  jobExecutionId: number
  jobName: string
  deviceId: string
  /**
   * The name the device had when the job was triggered
   */
  deviceName: string
  execState:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  /**
   * UTC in whole seconds, without offset
   */
  launchedAt: string
  /**
   * The run, that is the trigger call, it belongs to
   */
  runId: number
  attempt: number
  /**
   * Grows by one with every change
   */
  versionNumber: number
  startedAt: string | null
  finishedAt: string | null
  /**
   * When the device was told of it
   */
  notifiedAt: string | null
  /**
   * When the device confirmed that it has it
   */
  deliveredAt: string | null
  /**
   * Waits for its next attempt until then
   */
  notBefore: string | null
  statusDetails: {
    [k: string]: string
  }
  /**
   * What the device gave back, null until then
   */
  result: {
    [k: string]: unknown
  }
  /**
   * How much output is kept
   */
  outputBytes: number
  /**
   * There was more output than is kept
   */
  outputCut: boolean
}

export interface Explanation {
  /**
   * Identifies the execution; below 2^53, only grows
   */
  jobExecutionId: number
  execState:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  code:
    | 'WAITING_FOR_RETRY'
    | 'DEVICE_NEVER_CONNECTED'
    | 'DEVICE_OFFLINE'
    | 'BEHIND_EXECUTION'
    | 'NOT_NOTIFIED_YET'
    | 'NOTIFIED'
    | 'DELIVERED'
    | 'RUNNING'
    | 'CANCEL_REQUESTED'
    | 'ENDED'
  /**
   * One sentence for a person; its wording may change
   */
  text: string
  /**
   * Since when it is so
   */
  since: string | null
  /**
   * When it changes by itself
   */
  until: string | null
  /**
   * The jobExecutionId that its device has to finish first
   */
  behind: number | null
}

export interface Fleet {
  devices: {
    total: number
    online: number
  }
  /**
   * Executions that are PENDING
   */
  waiting: number
  /**
   * Executions that are IN_PROGRESS or CANCELING
   */
  running: number
  /**
   * How many executions ended so in the last hour, to five minutes
   */
  lastHour: {
    succeeded: number
    failed: number
  }
  /**
   * The execution that was launched first of those that are PENDING
   */
  oldestWaiting: {
    jobExecutionId: number
    runId: number
    jobName: string
    deviceId: string
    /**
     * UTC in whole seconds, without offset
     */
    launchedAt: string
  } | null
  history: FleetHistory
}
/**
 * A day at most; less where events are kept for less, or where there are very many
 */
export interface FleetHistory {
  /**
   * When the first step begins
   */
  from: string
  /**
   * How long a step is; the last one is under way
   */
  stepSeconds: number
  /**
   * How many were PENDING at the end of each step
   */
  waiting: number[]
  /**
   * How many were IN_PROGRESS or CANCELING at the end of each step
   */
  running: number[]
  /**
   * How many ended so in each step
   */
  succeeded: number[]
  /**
   * How many ended FAILED, TIMED_OUT, REJECTED or EXPIRED in each step
   */
  failed: number[]
}

export interface FleetDevice {
  deviceId: string
  online: boolean
  /**
   * The one that was launched last
   */
  lastExecution: {
    jobExecutionId: number
    execState:
      | 'PENDING'
      | 'IN_PROGRESS'
      | 'CANCELING'
      | 'SUCCEEDED'
      | 'FAILED'
      | 'TIMED_OUT'
      | 'REJECTED'
      | 'EXPIRED'
      | 'CANCELED'
  } | null
}

export interface FollowEventsQuery {
  after?: number
  since?: string
  types?: string
  runId?: number
  jobName?: string
  deviceId?: string
}

export interface GetExecutionOutputQuery {
  offset?: number
  attempt?: number
  follow?: boolean
  download?: boolean
}

export interface GetExecutionQuery {
  wait?: number
}

export interface GetRunQuery {
  wait?: number
}

export interface History {
  /**
   * Oldest first
   */
  items: Transition[]
}

export interface Transition {
  at: string
  /**
   * Null where it was made
   */
  from:
    | (
        | 'PENDING'
        | 'IN_PROGRESS'
        | 'CANCELING'
        | 'SUCCEEDED'
        | 'FAILED'
        | 'TIMED_OUT'
        | 'REJECTED'
        | 'EXPIRED'
        | 'CANCELED'
      )
    | null
  to:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  /**
   * What happened
   */
  event: string
  /**
   * Who: `key <keyId>`, `device` or `clock`
   */
  actor: string
  attempt: number
  /**
   * What it was after this step
   */
  versionNumber: number
}

export interface Job {
  jobName: string
  description: string
  document: {
    [k: string]: unknown
  }
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: {
    max: number
    backoffSeconds: number
    on: ('FAILED' | 'TIMED_OUT')[]
  } | null
  createdAt: string
  updatedAt: string
}

export interface JobContent {
  description?: string
  /**
   * Any JSON object up to 64 KiB; devices get it as it is
   */
  document?: {
    [k: string]: unknown
  }
  /**
   * How long an execution may wait in PENDING
   */
  expireAfterSeconds?: number
  /**
   * How long a device may work on it
   */
  timeoutSeconds?: number
  /**
   * How long all of it may take, attempts included
   */
  deadlineSeconds?: number
  /**
   * An attempt that ends so is followed by another
   */
  retry?: {
    /**
     * How many attempts may follow the first
     */
    max: number
    /**
     * Rest before the second attempt, 10 unless said; it doubles with each further one, up to a day, and a random part of up to half is taken off
     */
    backoffSeconds?: number
    /**
     * Which ends are tried again; both unless said
     *
     * @minItems 1
     */
    on?: ('FAILED' | 'TIMED_OUT')[]
  }
}
/**
 * Any JSON object: what a device is to do, in words that it understands
 */
export interface JobDocument {
  [k: string]: unknown
}

export interface ListDeliveriesQuery {
  limit?: number
  cursor?: string
  state?: 'PENDING' | 'DELIVERED' | 'FAILED'
}

export interface ListDevicesQuery {
  limit?: number
  cursor?: string
  tag?: string
  online?: boolean
}

export interface ListEnrollmentsQuery {
  limit?: number
  cursor?: string
}

export interface ListExecutionsQuery {
  limit?: number
  cursor?: string
  jobName?: string
  deviceId?: string
  execState?:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  runId?: number
  launchedAfter?: string
  launchedBefore?: string
}

export interface ListFleetDevicesQuery {
  limit?: number
  cursor?: string
}

export interface ListJobsQuery {
  limit?: number
  cursor?: string
}

export interface ListKeysQuery {
  limit?: number
  cursor?: string
  ownerId?: string
}

export interface ListOwnersQuery {
  limit?: number
  cursor?: string
}

export interface ListRunsQuery {
  limit?: number
  cursor?: string
  jobName?: string
  finished?: boolean
}

export interface ListWebhooksQuery {
  limit?: number
  cursor?: string
}

export interface NewApiKey {
  keyName: string
  /**
   * Exactly what the key may do; none when left out. A key grants only what it holds
   */
  scopes?: ('TRIGGER' | 'READ' | 'MANAGE' | 'ADMIN')[]
  expiresAt?: string | null
  /**
   * Another owner than the own one needs ADMIN
   */
  ownerId?: string
}

export interface NewEnrollment {
  name?: string
  /**
   * How many devices may enrol; 1 unless said
   */
  maxUses?: number
  /**
   * A day, 86400, unless said
   */
  expiresInSeconds?: number
  /**
   * Of each device that it makes
   *
   * @maxItems 50
   */
  tags?: string[]
  /**
   * The deviceId of each device must begin so
   */
  deviceIdPrefix?: string
}

export interface NewOwner {
  ownerName: string
}

export interface Owner {
  ownerId: string
  ownerName: string
  createdAt: string
}

export interface ReplayRequest {
  /**
   * Every event from this instant on is sent again
   */
  since: string
}

export interface RetryRequest {
  /**
   * Only these of the devices that did not succeed
   *
   * @minItems 1
   */
  deviceIds?: string[]
}

export interface Run {
  runId: number
  jobName: string
  /**
   * UTC in whole seconds, without offset
   */
  launchedAt: string
  total: number
  counts: {
    PENDING: number
    IN_PROGRESS: number
    CANCELING: number
    SUCCEEDED: number
    FAILED: number
    TIMED_OUT: number
    REJECTED: number
    EXPIRED: number
    CANCELED: number
  }
  /**
   * True once every execution has reached its end
   */
  finished: boolean
  /**
   * The run whose failures it tries again
   */
  retryOf: number | null
}
/**
 * Exactly one of the two
 */
export interface SignIn {
  apiKey?: string
  /**
   * Works once
   */
  ticket?: string
}

export interface SignInTicket {
  /**
   * Signs in once, with the key that asked for it
   */
  ticket: string
  expiresAt: string
}

export interface TriggerRequest {
  /**
   * Name of one of the caller's jobs
   */
  jobName: string
  /**
   * One or more of the caller's devices; one named twice gets one execution
   *
   * @minItems 1
   * @maxItems 10000
   */
  deviceIds: string[]
}

export interface TriggeredExecution {
  /**
   * Identifies the execution; below 2^53, only grows
   */
  jobExecutionId: number
  jobName: string
  deviceId: string
  /**
   * The name the device had when the job was triggered
   */
  deviceName: string
  execState:
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  /**
   * UTC in whole seconds, without offset
   */
  launchedAt: string
}

export interface Webhook {
  webhookName: string
  url: string
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
  state: 'ACTIVE' | 'PAUSED'
  /**
   * `owner`: by a call. `gone`: the receiver answered 410. `failing`: nothing arrived for a day
   */
  pausedBecause: ('owner' | 'gone' | 'failing') | null
  pausedAt: string | null
  /**
   * When the receiver last accepted an event
   */
  lastDeliveredAt: string | null
  /**
   * Since when it accepts none; null while it does
   */
  failingSince: string | null
  createdAt: string
  updatedAt: string
}

export interface WebhookContent {
  /**
   * Where events are sent to, by POST
   */
  url: string
  /**
   * Only these; `execution.*` stands for all of a kind. All events unless said
   *
   * @maxItems 50
   */
  eventTypes?: (
    | 'run.created'
    | 'run.finished'
    | 'execution.pending'
    | 'execution.in_progress'
    | 'execution.canceling'
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.timed_out'
    | 'execution.rejected'
    | 'execution.expired'
    | 'execution.canceled'
    | 'execution.progress'
    | 'device.created'
    | 'device.updated'
    | 'device.deleted'
    | 'device.online'
    | 'device.offline'
    | 'device.credential_set'
    | 'device.credential_revoked'
    | 'run.*'
    | 'execution.*'
    | 'device.*'
  )[]
  /**
   * Only what belongs to this job
   */
  jobName?: string
  /**
   * Only what belongs to this device
   */
  deviceId?: string
  /**
   * To sign with; made if there is none. Never shown again
   */
  secret?: string
}

export interface WebhookSecret {
  webhookName: string
  /**
   * Shown this once; for a day the one before it signs as well
   */
  secret: string
}
