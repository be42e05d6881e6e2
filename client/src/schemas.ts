// Written by `npm run generate` from docs/openapi.json; do not edit.

export interface AnyEvent {
  /**
   * Always increasing, below 2^53; ids may have gaps
   */
  eventId: number
  type:
    | 'run.created'
    | 'run.finished'
    | 'run.released'
    | 'run.changed'
    | 'run.paused'
    | 'run.resumed'
    | 'run.awaiting_approval'
    | 'run.approved'
    | 'run.denied'
    | 'run.aborted'
    | 'execution.in_progress'
    | 'execution.progress'
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.rejected'
    | 'execution.timed_out'
    | 'execution.expired'
    | 'execution.canceling'
    | 'execution.canceled'
    | 'execution.pending'
    | 'device.created'
    | 'device.updated'
    | 'device.deleted'
    | 'device.online'
    | 'device.offline'
    | 'device.credential_set'
    | 'device.credential_revoked'
    | 'device.certificate_allowed'
    | 'fleet.frozen'
    | 'fleet.unfrozen'
    | 'job.changed'
    | 'job.deleted'
    | 'group.changed'
    | 'group.deleted'
    | 'window.changed'
    | 'window.deleted'
    | 'secret.changed'
    | 'secret.deleted'
    | 'file.created'
    | 'file.deleted'
    | 'schedule.changed'
    | 'schedule.deleted'
    | 'schedule.fired'
    | 'schedule.missed'
    | 'schedule.paused'
    | 'schedule.resumed'
    | 'key.created'
    | 'key.revoked'
    | 'enrollment.created'
    | 'enrollment.revoked'
    | 'webhook.created'
    | 'webhook.updated'
    | 'webhook.deleted'
    | 'session.signed_in'
    | 'session.signed_out'
    | 'audit.sealed'
    | 'owner.created'
  timestamp: string
  data:
    | RunEventData
    | ExecutionEventData
    | DeviceEventData
    | FleetEventData
    | JobEventData
    | GroupEventData
    | WindowEventData
    | SecretEventData
    | FileEventData
    | ScheduleEventData
    | KeyEventData
    | EnrollmentEventData
    | WebhookEventData
    | SessionEventData
    | AuditEventData
    | OwnerEventData
}
/**
 * `counts` is present in `run.finished` only; `wave` and what follows in events of a rollout only
 */
export interface RunEventData {
  runId: number
  jobName: string
  /**
   * Number of executions; all start as PENDING
   */
  total: number
  /**
   * The run whose unsuccessful executions this run retries
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
  /**
   * The current wave, from 1
   */
  wave?: number
  /**
   * How many executions may be offered to their devices by now
   */
  released?: number
  because?: string | null
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, or `service` where it was a rule or a gate
   */
  principal?: string
  comment?: string
  /**
   * Of `run.approved`: how many more approvals the run needs
   */
  missing?: number
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
   * Version after this change
   */
  versionNumber: number
  /**
   * What caused the change, as in the history
   */
  cause: string
  /**
   * Who caused it: `key <keyId>`, `device` or `clock`
   */
  actor: string
  /**
   * Details the device reported with this change
   */
  statusDetails: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string
  }
}
/**
 * `deviceName`, `tags`, `attributes` and `window` with `device.created` and `device.updated`; `reportedAttributes` alone with `device.updated` when the device has reported them; `transport` with `device.online` and `device.offline`
 */
export interface DeviceEventData {
  deviceId: string
  deviceName?: string
  tags?: string[]
  /**
   * Attributes that its owner has set, with its time zone as `timeZone`; absent: none
   */
  attributes?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string | number | boolean
  }
  /**
   * Window of the device itself; absent: none
   */
  window?: string
  /**
   * Attributes that the device has reported and that have changed; null: removed
   */
  reportedAttributes?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string | number | boolean | null
  }
  /**
   * Transport by which the device connected or disconnected
   */
  transport?: string
}

export interface FleetEventData {
  /**
   * Why it was frozen
   */
  reason: string
  /**
   * When it ends automatically
   */
  until: string | null
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `isNew` with `job.changed`
 */
export interface JobEventData {
  jobName: string
  /**
   * The current version; of a deleted job, the last one
   */
  version: number
  /**
   * Whether it was created by this change
   */
  isNew?: boolean
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `isNew` with `group.changed`
 */
export interface GroupEventData {
  groupName: string
  /**
   * Whether it was created by this change
   */
  isNew?: boolean
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `isNew` with `window.changed`
 */
export interface WindowEventData {
  windowName: string
  /**
   * Whether it was created by this change
   */
  isNew?: boolean
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `isNew` with `secret.changed`. Never the value
 */
export interface SecretEventData {
  secretName: string
  /**
   * Whether it was created by this change
   */
  isNew?: boolean
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `size` and `sha256` with `file.created`
 */
export interface FileEventData {
  fileName: string
  version: string
  /**
   * In bytes
   */
  size?: number
  sha256?: string
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `scheduledFor`, `runId`, `matched` and `skipped` with `schedule.fired`: without `runId` there was no device. `count`, `from` and `to` with `schedule.missed`: the first and the last of the missed occurrences. `because` with `schedule.missed` and `schedule.paused`, `rule` with `schedule.paused`. `isNew` with `schedule.changed`
 */
export interface ScheduleEventData {
  scheduleName: string
  jobName: string
  scheduledFor?: string
  runId?: number | null
  /**
   * How many devices matched
   */
  matched?: number
  /**
   * How many of them were skipped because they have an unfinished execution
   */
  skipped?: number
  /**
   * How many occurrences were missed
   */
  count?: number
  /**
   * More occurrences were missed than were counted
   */
  isMore?: boolean
  from?: string
  to?: string
  because?: string
  /**
   * STOP_RULE of its rollout, over its runs of the last 24 hours; FAILURES: `pauseAfterFailures` runs in a row; RUN_STOPPED: its last run was aborted or denied; REFUSED: its run cannot be created; JOB_DELETED; KEY_REVOKED with its descendants; PRINCIPAL: paused by pausedBy
   */
  rule?: 'STOP_RULE' | 'FAILURES' | 'RUN_STOPPED' | 'REFUSED' | 'JOB_DELETED' | 'KEY_REVOKED' | 'PRINCIPAL'
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
  /**
   * Whether it was created by this change
   */
  isNew?: boolean
}
/**
 * Never the key itself
 */
export interface KeyEventData {
  keyId: string
  keyName: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN')[]
  expiresAt: string | null
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * Never its token
 */
export interface EnrollmentEventData {
  enrollmentId: string
  name: string | null
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * `change` with `webhook.updated`. Never its URL or its secret
 */
export interface WebhookEventData {
  webhookName: string
  change?: 'content' | 'secret' | 'paused' | 'resumed' | 'replayed'
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}

export interface SessionEventData {
  sessionId: string
  /**
   * The key it acts for
   */
  keyId: string
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}
/**
 * The checkpoint, as `GET /job/api/audit/checkpoint` returns it
 */
export interface AuditEventData {
  /**
   * The number of the seal; seals of an owner are numbered from 1
   */
  seal: number
  ownerId: string
  at: string
  firstAuditId: number
  lastAuditId: number
  /**
   * How many entries it seals
   */
  entries: number
  /**
   * The Merkle root of these entries (RFC 9162, SHA-256)
   */
  root: string
  previous: string | null
  /**
   * The beginning of the SHA-256 of the public key
   */
  keyId: string
  /**
   * Ed25519, in base64url
   */
  signature: string
  /**
   * The key that verifies it: 32 bytes in base64url
   */
  publicKey: string
}
/**
 * In the log of the owner of the key that created it
 */
export interface OwnerEventData {
  ownerId: string
  ownerName: string
  /**
   * Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
   */
  principal: string
}

export interface ApiKey {
  keyId: string
  keyName: string
  ownerId: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN')[]
  /**
   * The jobs it is restricted to; null: all
   */
  jobs: string[] | null
  /**
   * The selector of the devices it is restricted to; null: all
   */
  where: string | null
  /**
   * The addresses it may be used from; null: any
   */
  addresses: string[] | null
  expiresAt: string | null
  createdAt: string
  revokedAt: string | null
  /**
   * Accurate to a few seconds; null if never used
   */
  lastUsedAt: string | null
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
}

export interface ApprovalDecision {
  /**
   * Who decided: `key:<keyId>`, or `user:<subject>` for a person
   */
  principal: string
  /**
   * The name of the key or the person in `principal`; null if it is neither, or a key of another owner
   */
  name: string | null
  at: string
  decision: 'APPROVED' | 'DENIED'
  comment: string | null
}

export interface ApprovalRequest {
  comment?: string
  /**
   * The `rollout.approval.digest` you have seen: refused if the run has changed since
   */
  digest?: string
}
/**
 * The last seal. Keep it outside of the service: an export is verified with it
 */
export interface AuditCheckpoint {
  /**
   * The number of the seal; seals of an owner are numbered from 1
   */
  seal: number
  ownerId: string
  at: string
  firstAuditId: number
  lastAuditId: number
  /**
   * How many entries it seals
   */
  entries: number
  /**
   * The Merkle root of these entries (RFC 9162, SHA-256)
   */
  root: string
  previous: string | null
  /**
   * The beginning of the SHA-256 of the public key
   */
  keyId: string
  /**
   * Ed25519, in base64url
   */
  signature: string
  /**
   * The key that verifies it: 32 bytes in base64url
   */
  publicKey: string
}

export interface AuditEntry {
  /**
   * Increasing within an owner; ids may have gaps
   */
  auditId: number
  at: string
  /**
   * Who: `key:<keyId>`, `user:<subject>` for a person, or `operator`
   */
  principal: string
  /**
   * The name of the key or the person, as it was then
   */
  name: string | null
  /**
   * Where the request came from
   */
  address: string | null
  /**
   * The request id in the log and in the response header X-Request-Id
   */
  requestId: string | null
  /**
   * What was done, in the form of an event type
   */
  action: string
  /**
   * The resource it was done to
   */
  subject: string
  /**
   * The state before; null if it did not exist. Secrets are masked; large values are replaced by a hash
   */
  before: {
    [k: string]: unknown
  }
  /**
   * The state after; null if it was deleted
   */
  after: {
    [k: string]: unknown
  }
  note: string | null
}

export interface AwaitedApproval {
  /**
   * How many approvals it needs now
   */
  required: number
  /**
   * How many approvals it has; a change of the run voids earlier ones
   */
  given: number
  /**
   * Of what is approved: job version, document, parameters, targets in order, rollout and window
   */
  digest: string
  /**
   * Why you cannot approve or deny it; null if you can. SCOPE: your key lacks APPROVE; INVOLVED: you have created, changed or fired the run, or changed what it depends on; DECIDED: your approval already counts
   */
  blockedBecause: ('SCOPE' | 'INVOLVED' | 'DECIDED') | null
}

export interface Bridge {
  bridgeName: string
  /**
   * `connecting`: no attempt has failed yet. `down`: it is not connected; the service retries. `unknown`: no node has reported for 5 seconds, for example because another one is taking over
   */
  state: 'connected' | 'connecting' | 'down' | 'unknown'
  /**
   * When it was last connected or disconnected, at the earliest when the node that runs the bridge took over. Null if unknown
   */
  since: string | null
  /**
   * The last error, kept after the bridge has recovered: of the connection, the sign-in, a subscription, or a message or event that the broker rejected. Null if there was none since the node runs the bridge
   */
  lastError: string | null
  lastErrorAt: string | null
  /**
   * How long the oldest request that is not yet on disk has been waiting, in milliseconds
   */
  lagMs: number
  /**
   * Devices that sent a message over it within `bridge-silence`, since the node runs the bridge
   */
  devicesOnline: number
  /**
   * Messages that have not been sent to the broker yet
   */
  waiting: number
  /**
   * Messages from the broker since the node runs the bridge
   */
  received: number
  /**
   * Messages to the broker since the node runs the bridge
   */
  sent: number
  /**
   * Responses that were dropped because the broker is too slow
   */
  dropped: number
  /**
   * Null if the bridge publishes no events
   */
  events: BridgeEvents | null
  /**
   * With several nodes: the node that runs the bridge. Its connections to PostgreSQL are called `jobcast node <nodeNo>`. Null with one node, or if unknown
   */
  nodeNo: number | null
  /**
   * When the node that runs the bridge reported this, except `events.cursor`, which is always current: up to 5 seconds ago if another node responds. Null if unknown
   */
  asOf: string | null
}

export interface BridgeEvents {
  /**
   * The topic on which events are published
   */
  topic: string
  /**
   * The event up to which the broker has acknowledged them; null if none has been published yet
   */
  cursor: number | null
  /**
   * Since when the broker has rejected the next event, which is retried until it is accepted; null while events are accepted
   */
  failingSince: string | null
  /**
   * Events that were skipped because they are too large for the broker, since the node runs the bridge
   */
  leftOut: number
}
/**
 * How many executions may be released and not ended at once on devices with the same value of an attribute. Each device without it is a value of its own
 */
export interface Budget {
  /**
   * The name of an attribute; own.site is that of the owner, reported.site that of the device
   */
  by: string
  max: number
}

export interface CancelRequest {
  /**
   * Do not wait for the device to confirm
   */
  force?: boolean
}

export interface ChangeDevicesQuery {
  dryRun?: boolean
}

export interface CountRequest {
  /**
   * A selector: an expression that selects devices; at most 4 KiB and 64 terms
   */
  where: string
}

export interface CreateRunQuery {
  dryRun?: boolean
}

export interface CreatedApiKey {
  keyId: string
  keyName: string
  ownerId: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN')[]
  /**
   * The jobs it is restricted to; null: all
   */
  jobs: string[] | null
  /**
   * The selector of the devices it is restricted to; null: all
   */
  where: string | null
  /**
   * The addresses it may be used from; null: any
   */
  addresses: string[] | null
  expiresAt: string | null
  createdAt: string
  revokedAt: string | null
  /**
   * Accurate to a few seconds; null if never used
   */
  lastUsedAt: string | null
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
  /**
   * The key itself. It is shown only once
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
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
  /**
   * The token devices enroll with. It is shown only once
   */
  enrollmentToken: string
}
/**
 * Created
 */
export interface CreatedWebhook {
  webhookName: string
  /**
   * All of it for keys with the scope `MANAGE`; for others only the scheme and host
   */
  url: string
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
  /**
   * `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence for people with a link to the console; executions are reported with their run, once it has finished
   */
  format: 'jobcast' | 'slack' | 'teams' | 'cloudevents'
  /**
   * The jobs that its events are restricted to, as the key that created it was; null: all. Cannot be changed
   */
  jobs: string[] | null
  /**
   * The selector of the devices that its events are restricted to, as the key that created it was; null: all. Cannot be changed
   */
  where: string | null
  state: 'ACTIVE' | 'PAUSED'
  /**
   * `owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a day
   */
  pausedBecause: ('owner' | 'gone' | 'failing') | null
  pausedAt: string | null
  /**
   * Last successful delivery
   */
  lastDeliveredAt: string | null
  /**
   * Since when deliveries fail; null while they succeed
   */
  failingSince: string | null
  /**
   * The last unsuccessful attempt of any event: its status and error as in the delivery log. It is kept when later events are accepted
   */
  lastFailure: WebhookFailure | null
  createdAt: string
  updatedAt: string
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
  /**
   * Signing secret. It is shown only once
   */
  secret: string
}

export interface WebhookFailure {
  at: string
  /**
   * HTTP status; null if there was no response
   */
  status: number | null
  error: string
}

export interface DeleteGroupQuery {
  force?: boolean
}

export interface DeleteJobQuery {
  force?: boolean
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
   * HTTP status; null if there was no response
   */
  status: number | null
  /**
   * Why the attempt failed, with the first 200 characters of the response; null if it succeeded. `could not connect` if the host name does not resolve, has no permitted address, or refuses connections: the log of the service has the reason
   */
  error: string | null
  /**
   * Duration in milliseconds; rounded up to whole seconds if there was no connection
   */
  ms: number
}

export interface Device {
  deviceId: string
  deviceName: string
  tags: string[]
  /**
   * Attributes that its owner has set
   */
  attributes: {
    [k: string]: string | number | boolean
  }
  /**
   * Attributes that it has reported itself; for equal names the owner's value takes precedence
   */
  reportedAttributes: {
    [k: string]: string | number | boolean
  }
  /**
   * Time zone set by its owner; null: the time zone it reports, otherwise UTC
   */
  timeZone: string | null
  /**
   * Window of the device itself; windows of its groups apply as well
   */
  window: string | null
  /**
   * When its current token was created; null if it has none
   */
  credentialCreatedAt: string | null
  /**
   * Who created its current token: `key:<keyId>` or `enrollment:<enrollmentId>`. Null if it has none, or if this was not recorded
   */
  credentialCreatedBy: string | null
  /**
   * The name of the key, the person or the enrollment in `credentialCreatedBy`; null if it has none, or is a key of another owner
   */
  credentialCreatedByName: string | null
  /**
   * Since when client certificates of this device are rejected. A new token does not change it; POST …/allow-certificate does
   */
  certificateRevokedAt: string | null
  online: boolean
  /**
   * Start of the current online or offline period; null if it never connected
   */
  since: string | null
  /**
   * When it last sent anything
   */
  lastSeenAt: string | null
  /**
   * Transport by which the device is, or was last, connected
   */
  transport: ('mqtt' | 'websocket' | 'http' | 'bridge') | null
  createdAt: string
  updatedAt: string
}

export interface DeviceContent {
  deviceName?: string
  /**
   * @maxItems 50
   */
  tags?: string[]
  /**
   * Names of 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -; values are text of at most 256 characters, numbers, or true and false
   */
  attributes?: {
    [k: string]: string | number | boolean
  }
  timeZone?: string | null
  /**
   * Name of a window: the device is offered work only while it is open
   */
  window?: string | null
}

export interface DeviceCount {
  /**
   * How many devices match
   */
  total: number
  /**
   * How many of them are online
   */
  online: number
  /**
   * How many of them are running an execution
   */
  busy: number
  /**
   * Attributes that the selector names and that no device has
   */
  unknownNames: string[]
  /**
   * deviceIds of the first 20
   */
  sample: string[]
}

export interface DeviceCredential {
  deviceId: string
  /**
   * The token. It is shown only once and replaces the previous one
   */
  deviceToken: string
}

export interface DevicePatch {
  /**
   * null: the deviceId
   */
  deviceName?: string | null
  /**
   * Replaces all tags; null: none
   */
  tags?: string[] | null
  /**
   * Each attribute: its new value, or null to remove it
   */
  attributes?: {
    [k: string]: string | number | boolean | null
  } | null
  timeZone?: string | null
  window?: string | null
}
/**
 * Either where or deviceIds, and at least one change
 */
export interface DevicesChange {
  /**
   * A selector: an expression that selects devices; at most 4 KiB and 64 terms
   */
  where?: string
  /**
   * One that does not exist is J-001
   *
   * @minItems 1
   * @maxItems 10000
   */
  deviceIds?: string[]
  /**
   * @maxItems 50
   */
  addTags?: string[]
  /**
   * @maxItems 50
   */
  removeTags?: string[]
  /**
   * Each attribute: its new value, or null to remove it
   */
  attributes?: {
    [k: string]: string | number | boolean | null
  }
}

export interface DevicesChanged {
  /**
   * How many devices were selected
   */
  matched: number
  /**
   * How many of them were changed
   */
  changed: number
  /**
   * Devices that were not changed because they would exceed a limit; at most 1,000 are listed
   */
  failed: {
    deviceId: string
    code: string
    message: string
  }[]
  /**
   * How many devices failed
   */
  failedTotal: number
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
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
}

export interface ExchangedToken {
  /**
   * Send it as X-API-Key
   */
  access_token: string
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token'
  token_type: 'N_A'
  /**
   * Seconds
   */
  expires_in: number
}

export interface Execution {
  /**
   * Identifies the execution; always increasing, below 2^53
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
   * The run (trigger call) this execution belongs to
   */
  runId: number
  /**
   * Of the pending executions of a device, those with a higher priority are offered first
   */
  priority: number
  attempt: number
  /**
   * Increases by one with every change
   */
  versionNumber: number
  startedAt: string | null
  finishedAt: string | null
  /**
   * When it was first sent to the device
   */
  notifiedAt: string | null
  /**
   * When the device acknowledged it
   */
  deliveredAt: string | null
  /**
   * It is not offered to the device before this: it waits for a retry, or the device said not now
   */
  notBefore: string | null
  statusDetails: {
    [k: string]: string
  }
  /**
   * Result reported by the device; null until then
   */
  result: {
    [k: string]: unknown
  }
  /**
   * Bytes of output stored
   */
  outputBytes: number
  /**
   * The output was longer than what is stored
   */
  outputCut: boolean
}

export interface Explanation {
  /**
   * Identifies the execution; always increasing, below 2^53
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
    | 'NOT_RELEASED'
    | 'RELEASE_FAILING'
    | 'RUN_PAUSED'
    | 'AWAITING_APPROVAL'
    | 'SCHEDULED'
    | 'FROZEN'
    | 'OUTSIDE_WINDOW'
    | 'WAITING_FOR_RETRY'
    | 'NOT_NOW'
    | 'DEVICE_NEVER_CONNECTED'
    | 'DEVICE_OFFLINE'
    | 'BEHIND_EXECUTION'
    | 'NOT_NOTIFIED_YET'
    | 'NOTIFIED'
    | 'DELIVERED'
    | 'RUNNING'
    | 'TIMER_FAILING'
    | 'CANCEL_REQUESTED'
    | 'ENDED'
  /**
   * A sentence or two for a person; the wording may change
   */
  text: string
  /**
   * Since when
   */
  since: string | null
  /**
   * When this changes on its own
   */
  until: string | null
  /**
   * While it is pending: when it ends on its own if its device does not start it, by `expireAfterSeconds` or `deadlineSeconds`. Neither runs while a window or a freeze holds it back. Null if it does not end, or if this cannot be known
   */
  expiresAt: string | null
  /**
   * jobExecutionId of the execution the device must finish first
   */
  behind: number | null
}

export interface Failing {
  since: string
  /**
   * How many tries in a row have failed; up to 10 seconds old
   */
  times: number
  /**
   * Why the last one failed; its wording may change
   */
  message: string
}

export interface FileReference {
  /**
   * Where devices fetch the content
   */
  url: string
  /**
   * In bytes
   */
  size: number
  sha256: string
  sha1?: string
  md5?: string
}
/**
 * More is missing
 */
export interface FileUpload {
  fileName: string
  version: string
  /**
   * Size of the whole content, in bytes
   */
  size: number
  /**
   * How many bytes have been received: the upload continues at this byte
   */
  received: number
  /**
   * When the received part is deleted, unless more arrives
   */
  expiresAt: string
}

export interface FileVersion {
  fileName: string
  version: string
  /**
   * Whether it was uploaded last: documents that name no version use it
   */
  isNewest: boolean
  /**
   * In bytes
   */
  size: number
  sha256: string
  sha1: string | null
  md5: string | null
  url: string | null
  createdAt: string
  /**
   * Who uploaded it: `key:<keyId>`, or `user:<subject>` for a person
   */
  createdBy: string
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>` of unfinished runs; at most 20 of each kind
   */
  usedBy: string[]
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
   * Executions that ended in the last hour, accurate to five minutes
   */
  lastHour: {
    succeeded: number
    failed: number
  }
  /**
   * The oldest PENDING execution
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
 * Up to one day; less if events are retained for less time, or if there are very many
 */
export interface FleetHistory {
  /**
   * Start of the first step
   */
  from: string
  /**
   * Length of a step; the last step is still open
   */
  stepSeconds: number
  /**
   * PENDING executions at the end of each step
   */
  waiting: number[]
  /**
   * IN_PROGRESS or CANCELING executions at the end of each step
   */
  running: number[]
  /**
   * Executions that ended SUCCEEDED in each step
   */
  succeeded: number[]
  /**
   * Executions that ended FAILED, TIMED_OUT, REJECTED or EXPIRED in each step
   */
  failed: number[]
}

export interface FleetDevice {
  deviceId: string
  online: boolean
  /**
   * The most recently launched execution
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
  /**
   * The most recently launched execution of those that have ended
   */
  lastEnded: {
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
  /**
   * What the device is working on: an execution that is IN_PROGRESS or CANCELING
   */
  running: {
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

export interface FleetGroups {
  /**
   * When the devices were counted
   */
  asOf: string
  /**
   * What they are counted by, as in the request
   */
  by: string
  /**
   * All devices
   */
  all: {
    devices: number
    online: number
    /**
     * Devices by state: that of the execution a device works on, else of its most recently launched one; while that is PENDING and the one before has failed, that of the failed one; NONE if it never had one
     */
    states: {
      NONE?: number
      PENDING?: number
      IN_PROGRESS?: number
      CANCELING?: number
      SUCCEEDED?: number
      FAILED?: number
      TIMED_OUT?: number
      REJECTED?: number
      EXPIRED?: number
      CANCELED?: number
    }
  }
  /**
   * The largest first; a device with several tags or groups counts in each
   */
  groups: {
    /**
     * A tag, the name of a group, or the value of the attribute; null: the devices without one, of groups those in none of the groups that are counted
     */
    value: string | null
    /**
     * The value, if they are counted by tag
     */
    tag?: string | null
    devices: number
    online: number
    /**
     * Devices by state: that of the execution a device works on, else of its most recently launched one; while that is PENDING and the one before has failed, that of the failed one; NONE if it never had one
     */
    states: {
      NONE?: number
      PENDING?: number
      IN_PROGRESS?: number
      CANCELING?: number
      SUCCEEDED?: number
      FAILED?: number
      TIMED_OUT?: number
      REJECTED?: number
      EXPIRED?: number
      CANCELED?: number
    }
  }[]
  /**
   * Smaller groups that were left out
   */
  otherGroups: number
}

export interface FollowEventsQuery {
  after?: number
  since?: string
  types?: string
  runId?: number
  jobName?: string
  deviceId?: string
}
/**
 * All fields but `frozen` are null while it is not frozen
 */
export interface Freeze {
  frozen: boolean
  reason: string | null
  /**
   * Who did it: `key:<keyId>`, or `user:<subject>` for a person
   */
  frozenBy: string | null
  /**
   * The name of the key or the person in `frozenBy`; null if it is neither, or a key of another owner
   */
  frozenByName: string | null
  since: string | null
  /**
   * When it ends automatically
   */
  until: string | null
}

export interface FreezeRequest {
  /**
   * The reason, shown to everyone who views the fleet
   */
  reason: string
  /**
   * When it ends automatically; by default, when somebody ends it
   */
  until?: string | null
}

export interface GateProgress {
  /**
   * How many devices of the wave it judges: all but those whose failures a resume has accepted, and those canceled before the wave started
   */
  size: number
  /**
   * How many of them must succeed, and report `next.where` if it is given
   */
  needed: number
  /**
   * How many have done so
   */
  succeeded: number
  /**
   * How many still can at most
   */
  possible: number
  /**
   * How many released devices of the wave have not finished and are not connected
   */
  offline: number
  /**
   * When its soak time ends; null while another condition of the gate is not met
   */
  opensAt: string | null
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

export interface GetFleetGroupsQuery {
  by?: string
  limit?: number
}

export interface GetRunQuery {
  wait?: number
}

export interface GetRunTimelineQuery {
  buckets?: number
}

export interface GetStatsQuery {
  launchedAfter?: string
  launchedBefore?: string
  jobName?: string
  buckets?: number
}

export interface Group {
  groupName: string
  where: string
  description: string | null
  /**
   * Window of the devices of the group
   */
  window: string | null
  createdAt: string
  updatedAt: string
  /**
   * Who created it: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * Who put it last: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
   */
  updatedBy: string | null
  /**
   * The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
   */
  updatedByName: string | null
}

export interface GroupContent {
  /**
   * A selector: an expression that selects devices; at most 4 KiB and 64 terms
   */
  where: string
  description?: string
  /**
   * Name of a window: devices of the group are offered work only while it is open
   */
  window?: string | null
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
   * Null for its creation
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
   * What caused the transition
   */
  event: string
  /**
   * Who caused it: `key <keyId>`, `user <subject>` for a person, `device` or `clock`
   */
  actor: string
  /**
   * The name of that key or person; null if it was neither
   */
  actorName: string | null
  attempt: number
  /**
   * Version after this transition
   */
  versionNumber: number
  /**
   * Why the attempt was unsuccessful: the status detail `reason` that the device reported with it, or all details it reported. Null for every other transition
   */
  reason: string | null
}

export interface ImportDevicesQuery {
  dryRun?: boolean
  merge?: boolean
}

export interface ImportResult {
  created: number
  updated: number
  unchanged: number
  /**
   * With `dryRun`: values of existing devices that would change or be removed, at most 100 fields
   */
  overwritten?: {
    /**
     * A field of devices, or attributes.NAME
     */
    field: string
    /**
     * How many devices lose the value that they have
     */
    devices: number
    example: {
      deviceId: string
      before: string
      /**
       * Null: it is removed
       */
      after: string | null
    }
  }[]
  /**
   * Lines that were not stored, at most 10,000 of them
   */
  failed: {
    /**
     * Counted from 1
     */
    line: number
    code: string
    message: string
  }[]
  /**
   * How many lines failed
   */
  failedTotal: number
}

export interface ImportedDevice {
  deviceId: string
  deviceName?: string
  /**
   * @maxItems 50
   */
  tags?: string[]
  /**
   * Names of 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -; values are text of at most 256 characters, numbers, or true and false
   */
  attributes?: {
    [k: string]: string | number | boolean
  }
  timeZone?: string | null
  /**
   * Name of a window: the device is offered work only while it is open
   */
  window?: string | null
}

export interface Job {
  jobName: string
  /**
   * Numbered from 1; each change of the job creates the next version
   */
  version: number
  description: string
  document: {
    [k: string]: unknown
  }
  /**
   * JSON Schema of the parameters of its runs
   */
  parameters: {
    [k: string]: unknown
  } | null
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: {
    max: number
    backoffSeconds: number
    on: ('FAILED' | 'TIMED_OUT')[]
  } | null
  rollout: Rollout | null
  approval:
    | boolean
    | {
        required: number
      }
  /**
   * The window in which its executions are offered; null: they are offered at any time
   */
  window: string | null
  /**
   * Of the pending executions of a device, those with a higher priority are offered first
   */
  priority: number
  /**
   * One envelope, or none
   */
  signatures: JobEnvelope[]
  createdAt: string
  updatedAt: string
  /**
   * Who created the current version: `key:<keyId>`, or `user:<subject>` for a person
   */
  updatedBy: string | null
  /**
   * The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
   */
  updatedByName: string | null
}

export interface Rollout {
  /**
   * The order in which devices are released: RANDOM (default), or GIVEN, that of the call or of deviceIds
   */
  order?: 'RANDOM' | 'GIVEN'
  /**
   * Default: one wave
   *
   * @minItems 1
   * @maxItems 50
   */
  waves?: {
    size: number | string
    /**
     * Only devices that match
     */
    where?: string
  }[]
  ratePerMinute?: number
  /**
   * The rate is multiplied by the factor each time this many more executions have succeeded
   */
  growth?: {
    factor: number
    afterSucceeded: number
  }
  /**
   * How many executions may be released and not ended at once
   */
  maxUnderWay?: number
  budget?: Budget
  next?: {
    /**
     * How many of the devices of the wave must have SUCCEEDED, up to three decimals; default 100. A gate that can no longer open pauses the run
     */
    succeededPercent?: number
    /**
     * A device counts as succeeded only if what it reports matches this: a bare name means `reported.NAME`
     */
    where?: string
    /**
     * What follows if no device reports an attribute that `where` names: REFUSE (default) the call, or WAIT until one does
     */
    onMissing?: 'REFUSE' | 'WAIT'
    /**
     * How long the other conditions must hold
     */
    soakSeconds?: number
    /**
     * What happens when the gate opens; default CONTINUE
     */
    action?: 'CONTINUE' | 'PAUSE' | 'APPROVAL'
    /**
     * How long after the start of a wave its gate may stay closed before the run is paused
     */
    giveUpAfterSeconds?: number
  }
  /**
   * @maxItems 20
   */
  stop?: {
    /**
     * @minItems 1
     */
    on: ('FAILED' | 'TIMED_OUT' | 'REJECTED' | 'EXPIRED' | 'CANCELED')[]
    /**
     * Of the executions that have ended, up to three decimals
     */
    percent?: number
    /**
     * With percent: how many must have ended; default 1
     */
    minEnded?: number
    count?: number
    /**
     * Default PAUSE
     */
    action?: 'PAUSE' | 'ABORT'
    /**
     * What is counted: the whole run (default) or the current wave
     */
    of?: 'RUN' | 'WAVE'
  }[]
}
/**
 * DSSE envelope with the signatures of the authors of a job, created by `jobcast jobs sign`
 */
export interface JobEnvelope {
  payloadType: 'application/vnd.jobcast.job+json'
  /**
   * Canonical JSON (RFC 8785) of `jobName`, `version`, `document`, and if there are any `parameters`, `notAfter` and `audience`
   */
  payload: string
  /**
   * @minItems 1
   * @maxItems 10
   */
  signatures: {
    /**
     * A hint: SHA-256 of the public key (DER) in hex. Only devices know which keys to trust
     */
    keyid?: string
    /**
     * Ed25519 signature
     */
    sig: string
  }[]
}

export interface JobContent {
  description?: string
  /**
   * Any JSON object up to 64 KiB. Placeholders in its texts, such as `${params.x}` and `${secrets.NAME}`, are replaced when a device gets it; `$${` is a literal `${`
   */
  document?: {
    [k: string]: unknown
  }
  /**
   * JSON Schema 2020-12 of the parameters of its runs, at most 16 KiB: an object of string, number, integer, boolean, and arrays of these. `writeOnly` makes a parameter a secret
   */
  parameters?: {
    [k: string]: unknown
  }
  /**
   * How long an execution may stay PENDING before it becomes EXPIRED
   */
  expireAfterSeconds?: number
  /**
   * How long an attempt may stay IN_PROGRESS before it becomes TIMED_OUT
   */
  timeoutSeconds?: number
  /**
   * How long an execution may take in total, including all attempts
   */
  deadlineSeconds?: number
  /**
   * Retry policy: when an attempt ends in one of these states, another attempt follows
   */
  retry?: {
    /**
     * Maximum number of retries after the first attempt
     */
    max: number
    /**
     * Delay before the first retry; default 10. It doubles with every further retry, up to one day, and is shortened by a random share of up to half
     */
    backoffSeconds?: number
    /**
     * States that are retried; default both
     *
     * @minItems 1
     */
    on?: ('FAILED' | 'TIMED_OUT')[]
  }
  rollout?: Rollout
  /**
   * Its runs require approval by others: true for one approval, or the number of approvals; default false. Removing or lowering it needs APPROVE
   */
  approval?:
    | boolean
    | {
        required: number
      }
  /**
   * Name of the window in which its executions are offered, unless a run names another; applies to the trigger call as well
   */
  window?: string
  /**
   * From 0 to 9, default 5; executions with a higher priority are offered first to a device, also those of the trigger call
   */
  priority?: number
  /**
   * Signatures of the authors for this job and this version; several envelopes must have the same payload, and are merged into one. Devices get it as `jobSignature`
   *
   * @maxItems 10
   */
  signatures?: JobEnvelope[]
}
/**
 * Any JSON object: instructions for the device
 */
export interface JobDocument {
  [k: string]: unknown
}

export interface JobVersion {
  jobName: string
  version: number
  /**
   * New runs use it, unless they name another one
   */
  isCurrent: boolean
  description: string
  document: {
    [k: string]: unknown
  }
  /**
   * JSON Schema of the parameters of its runs
   */
  parameters: {
    [k: string]: unknown
  } | null
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: {
    max: number
    backoffSeconds: number
    on: ('FAILED' | 'TIMED_OUT')[]
  } | null
  rollout: Rollout | null
  approval:
    | boolean
    | {
        required: number
      }
  /**
   * The window in which its executions are offered; null: they are offered at any time
   */
  window: string | null
  /**
   * Of the pending executions of a device, those with a higher priority are offered first
   */
  priority: number
  /**
   * One envelope, or none
   */
  signatures: JobEnvelope[]
  createdAt: string
  /**
   * Who created it: `key:<keyId>`
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
}

export interface ListAuditQuery {
  limit?: number
  cursor?: string
  principal?: string
  action?: string
  subject?: string
  after?: string
  before?: string
}

export interface ListBridgesQuery {
  limit?: number
  cursor?: string
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
  where?: string
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
  /**
   * @minItems 1
   * @maxItems 9
   */
  execState?: (
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  )[]
  runId?: number
  launchedAfter?: string
  launchedBefore?: string
  finishedAfter?: string
  finishedBefore?: string
}

export interface ListFileVersionsQuery {
  limit?: number
  cursor?: string
}

export interface ListFilesQuery {
  limit?: number
  cursor?: string
}

export interface ListFleetDevicesQuery {
  limit?: number
  cursor?: string
}

export interface ListGroupsQuery {
  limit?: number
  cursor?: string
}

export interface ListJobVersionsQuery {
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

export interface ListNextOccurrencesQuery {
  count?: number
}

export interface ListOwnersQuery {
  limit?: number
  cursor?: string
}

export interface ListRunsQuery {
  limit?: number
  cursor?: string
  jobName?: string
  version?: number
  finished?: boolean
  scheduleName?: string
  rolloutState?:
    | 'SCHEDULED'
    | 'AWAITING_APPROVAL'
    | 'ROLLING_OUT'
    | 'PAUSED'
    | 'RELEASED'
    | 'DENIED'
    | 'ABORTED'
  /**
   * @minItems 1
   * @maxItems 9
   */
  execState?: (
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  )[]
  launchedAfter?: string
  launchedBefore?: string
  finishedAfter?: string
  finishedBefore?: string
}

export interface ListSchedulesQuery {
  limit?: number
  cursor?: string
}

export interface ListSecretsQuery {
  limit?: number
  cursor?: string
}

export interface ListSessionsQuery {
  limit?: number
  cursor?: string
  ownerId?: string
}

export interface ListWebhooksQuery {
  limit?: number
  cursor?: string
}

export interface ListWindowTimesQuery {
  count?: number
  timeZone?: string
  after?: string
}

export interface ListWindowsQuery {
  limit?: number
  cursor?: string
}

export interface NewApiKey {
  keyName: string
  /**
   * What the key may do; default none. A key can only grant scopes it holds
   */
  scopes?: ('TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN')[]
  /**
   * Default: the expiry of the calling key, or never. A key cannot outlive the key that created it, so a later instant is rejected
   */
  expiresAt?: string | null
  /**
   * Default: the owner of the calling key. Any other owner needs ADMIN
   */
  ownerId?: string
  /**
   * Only these jobs, their runs and their executions exist for the key. Names, or beginnings of names with `*` at the end. Not with ADMIN
   *
   * @minItems 1
   * @maxItems 64
   */
  jobs?: string[]
  /**
   * Only the devices that this selector matches exist for the key, with their executions and the counts of those. It is judged by tags, by device ids and by attributes that the owner has set: a bare name means `own.NAME`. Reported attributes, device names, `online` and groups are rejected. Not with ADMIN
   */
  where?: string
  /**
   * The key is valid only for requests from these addresses or ranges
   *
   * @minItems 1
   * @maxItems 64
   */
  addresses?: string[]
}

export interface NewEnrollment {
  name?: string
  /**
   * How many devices may enroll; default 1
   */
  maxUses?: number
  /**
   * Default 86400, one day
   */
  expiresInSeconds?: number
  /**
   * Tags of every device it creates
   *
   * @maxItems 50
   */
  tags?: string[]
  /**
   * Required prefix of the deviceId of every device. Without it the token works for any deviceId without a credential, including registered devices: set one if you can
   */
  deviceIdPrefix?: string
}

export interface NewOwner {
  ownerName: string
}

export interface NewRun {
  /**
   * Required without planId
   */
  jobName?: string
  targets?: Targets
  /**
   * Version of the job; by default, the current one
   */
  version?: number
  /**
   * Values of the parameters of the job, at most 16 KiB; omitted ones have their defaults
   */
  parameters?: {
    [k: string]: unknown
  }
  /**
   * What happens with devices that lack an attribute that the document needs: REFUSE (default) rejects the call (J-506), SKIP skips them
   */
  onMissing?: 'REFUSE' | 'SKIP'
  /**
   * A note that is stored with the run, for example the reason
   */
  note?: string
  rollout?: Rollout
  /**
   * The run is released only after others approve it: true for one approval, or the number of approvals. It can add to what the job requires, but not lower it
   */
  approval?:
    | boolean
    | {
        required: number
      }
  /**
   * Nothing is released before this time, at most a year from now; by default, now
   */
  startAt?: string
  /**
   * Name of the window in which it is offered to devices; by default, the window of the job
   */
  window?: string
  /**
   * Offer it at any time, even outside the windows of the job, of devices and of groups; needs MANAGE and a `note`
   */
  ignoreWindows?: boolean
  /**
   * Cancel pending executions of the same job on these devices, with the cause `superseded`, once the run is approved if it needs approval; running ones continue. Default false
   */
  replaces?: boolean
  /**
   * From 0 to 9; executions with a higher priority are offered first to a device. By default, the priority of the job
   */
  priority?: number
  /**
   * From a dry run, within 10 minutes: starts exactly what was planned, once; repeating the call returns the same run. No other field is needed; one that differs from the plan, a job, window or selection that has changed since, or an older plan is rejected (J-505)
   */
  planId?: string
}
/**
 * Exactly one of deviceIds, where and group
 */
export interface Targets {
  /**
   * A device listed twice gets one execution
   *
   * @minItems 1
   */
  deviceIds?: string[]
  /**
   * A selector: an expression that selects devices; at most 4 KiB and 64 terms
   */
  where?: string
  /**
   * The devices of this group
   */
  group?: string
}

export interface Occurrence {
  at: string
  /**
   * The same instant in the schedule's time zone
   */
  local: string
}

export interface OwnKey {
  keyId: string
  keyName: string
  ownerId: string
  scopes: ('TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN')[]
  /**
   * The jobs it is restricted to; null: all
   */
  jobs: string[] | null
  /**
   * The selector of the devices it is restricted to; null: all
   */
  where: string | null
  /**
   * The addresses it may be used from; null: any
   */
  addresses: string[] | null
  expiresAt: string | null
  createdAt: string
  revokedAt: string | null
  /**
   * Accurate to a few seconds; null if never used
   */
  lastUsedAt: string | null
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
  /**
   * Who acts, as events and `createdBy` name it: `key:<keyId>`, or `user:<subject>` for a person
   */
  principal: string
  /**
   * The name of the person, or of the key
   */
  name: string
  /**
   * Of a person, if the issuer provides it
   */
  email: string | null
  /**
   * The name of the owner that the key or the person acts for
   */
  ownerName: string
  /**
   * Names of the owners for which a person has a role; empty for a key
   */
  owners: string[]
}

export interface Owner {
  ownerId: string
  ownerName: string
  createdAt: string
}

export interface PauseCause {
  /**
   * STOP_RULE; GATE_CLOSED: too many devices of the wave did not succeed; GATE_ACTION: the gate opened, and its action is PAUSE; GATE_TIMEOUT: giveUpAfterSeconds has passed; PRINCIPAL: paused by pausedBy
   */
  rule: 'STOP_RULE' | 'GATE_CLOSED' | 'GATE_ACTION' | 'GATE_TIMEOUT' | 'PRINCIPAL'
  /**
   * The current wave then, from 1
   */
  wave: number
  /**
   * For a stop rule: its position in rollout.stop, from 1
   */
  stopRule: number | null
  /**
   * What the stop rule or the gate counts; SCHEDULE: the runs of its schedule of the last 24 hours
   */
  of: ('RUN' | 'WAVE' | 'SCHEDULE') | null
  /**
   * The states that the stop rule or the gate counts
   */
  on: (
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  )[]
  /**
   * How many have ended in one of these states
   */
  count: number | null
  /**
   * How many have ended in total
   */
  ended: number | null
  /**
   * count of ended
   */
  percent: number | null
  /**
   * Of a closed gate: how many devices of the wave must succeed for it to open
   */
  needed: number | null
  /**
   * Of a closed gate: how many of them still can at most
   */
  possible: number | null
  /**
   * Some of the executions that the stop rule or the gate counted
   *
   * @maxItems 20
   */
  executions: {
    jobExecutionId: number
    deviceId: string
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
  }[]
}

export interface PausedRun {
  ownerId: string
  runId: number
}

export interface PausedSchedule {
  ownerId: string
  scheduleName: string
}

export interface ReplayRequest {
  /**
   * Events from this instant on are sent again
   */
  since: string
}

export interface ResumeRequest {
  /**
   * Resume without these devices of the run: their executions that have not started are canceled, and no gate counts them
   *
   * @minItems 1
   * @maxItems 1000
   */
  except?: string[]
}

export interface RetryRequest {
  /**
   * Only these devices; default: all devices whose execution was unsuccessful
   *
   * @minItems 1
   */
  deviceIds?: string[]
  /**
   * SAME (default): the version of the job that the run used; NEWEST: the current one
   */
  version?: 'SAME' | 'NEWEST'
  rollout?: Rollout
}

export interface RevokeKeyQuery {
  descendants?: boolean
}
/**
 * Revoked, with `descendants=true`
 */
export interface RevokedKeys {
  /**
   * Keys that this call revoked, not counting those revoked before
   */
  revokedKeys: number
  /**
   * Enrollments that this call revoked
   */
  revokedEnrollments: number
  /**
   * Schedules that this call paused, at most 100
   */
  pausedSchedules: PausedSchedule[]
  /**
   * Runs with startAt that this call paused, at most 100
   */
  pausedRuns: PausedRun[]
  /**
   * More schedules or runs were paused than are listed
   */
  isMore: boolean
}

export interface RollbackRequest {
  /**
   * Version of the job; by default, the version before the one that the run used
   */
  toVersion?: number
  /**
   * Only these of the devices that the run was released to
   *
   * @minItems 1
   */
  deviceIds?: string[]
  /**
   * Only those of them that match this selector
   */
  where?: string
  rollout?: Rollout
  /**
   * Why, for whoever looks at it later
   */
  note?: string
  /**
   * Also if the run was rolled back before (otherwise J-317)
   */
  again?: boolean
}

export interface RolloutPatch {
  /**
   * A merge patch (RFC 7396): omitted fields keep their value, null removes a field, lists are replaced
   */
  rollout: {
    order?: ('RANDOM' | 'GIVEN') | null
    waves?:
      | {
          size: number | string
          /**
           * Only devices that match
           */
          where?: string
        }[]
      | null
    ratePerMinute?: number | null
    growth?: {
      factor?: number | null
      afterSucceeded?: number | null
    } | null
    maxUnderWay?: number | null
    budget?: {
      by?: string | null
      max?: number | null
    } | null
    next?: {
      succeededPercent?: number | null
      where?: string | null
      onMissing?: ('REFUSE' | 'WAIT') | null
      soakSeconds?: number | null
      action?: ('CONTINUE' | 'PAUSE' | 'APPROVAL') | null
      giveUpAfterSeconds?: number | null
    } | null
    stop?:
      | {
          /**
           * @minItems 1
           */
          on: ('FAILED' | 'TIMED_OUT' | 'REJECTED' | 'EXPIRED' | 'CANCELED')[]
          /**
           * Of the executions that have ended, up to three decimals
           */
          percent?: number
          /**
           * With percent: how many must have ended; default 1
           */
          minEnded?: number
          count?: number
          /**
           * Default PAUSE
           */
          action?: 'PAUSE' | 'ABORT'
          /**
           * What is counted: the whole run (default) or the current wave
           */
          of?: 'RUN' | 'WAVE'
        }[]
      | null
  }
}

export interface RolloutProgress {
  state: 'SCHEDULED' | 'AWAITING_APPROVAL' | 'ROLLING_OUT' | 'PAUSED' | 'RELEASED' | 'DENIED' | 'ABORTED'
  /**
   * The current wave, from 1
   */
  wave: number
  waves: {
    size: number
    released: number
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
    startedAt: string | null
    /**
     * When its gate opened
     */
    passedAt: string | null
  }[]
  /**
   * How many executions may be offered to their devices
   */
  released: number
  pausedBecause: string | null
  pausedBy: string | null
  /**
   * The name of the key or the person in `pausedBy`; null if it is neither, or a key of another owner
   */
  pausedByName: string | null
  /**
   * pausedBecause for programs
   */
  pausedCause: PauseCause | null
  /**
   * What the gate after the current wave waits for. Null in lists, unless the rollout is ROLLING_OUT or PAUSED, once the gate has opened, and in the last wave, which has none
   */
  gate: GateProgress | null
  /**
   * What each rule of `definition.stop` has counted since the run was last resumed, in the same order
   */
  stopRules: StopRuleProgress[]
  /**
   * When it continues automatically, if that is known
   */
  nextAt: string | null
  /**
   * It cannot continue and is retried: its writes have failed twice or more in a row
   */
  failing: Failing | null
  definition: Rollout
  /**
   * What it waits for while it is AWAITING_APPROVAL
   */
  approval: AwaitedApproval | null
}

export interface StopRuleProgress {
  /**
   * How many have ended in one of its states
   */
  count: number
  /**
   * How many have ended in total
   */
  ended: number
}

export interface Run {
  runId: number
  jobName: string
  /**
   * The version of the job that it uses
   */
  version: number
  /**
   * Values of the parameters of the job, defaults included; secrets are masked
   */
  parameters: {
    [k: string]: unknown
  }
  /**
   * UTC in whole seconds, without offset
   */
  launchedAt: string
  /**
   * When its last execution ended; null until then
   */
  finishedAt: string | null
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
   * True once every execution has ended
   */
  finished: boolean
  /**
   * The run whose unsuccessful executions this run retries
   */
  retryOf: number | null
  /**
   * The run that this run rolls back to an earlier version
   */
  rollbackOf: number | null
  /**
   * Who triggered it: `key:<keyId>`, or `user:<subject>` for a person. Null if this was not recorded
   */
  createdBy: string | null
  /**
   * The name of that key
   */
  createdByName: string | null
  /**
   * The selector by which its devices were chosen; null for a list of devices
   */
  where: string | null
  /**
   * How many devices the selector matched
   */
  matched: number | null
  note: string | null
  /**
   * The schedule that created it; null if it was triggered by a call
   */
  scheduleName: string | null
  /**
   * The occurrence of the schedule that it was created for
   */
  scheduledFor: string | null
  /**
   * The progress of its rollout; null: it was released immediately
   */
  rollout: RolloutProgress | null
  /**
   * The window in which its executions are offered; null: they are offered at any time
   */
  window: string | null
  /**
   * Who approved or denied it, in order; those that came before a change of the run do not count any more
   */
  approvals: ApprovalDecision[]
  /**
   * Of the pending executions of a device, those with a higher priority are offered first
   */
  priority: number
  /**
   * It replaces what waits of the same job on its devices, or has replaced it
   */
  replaces: boolean
}

export interface RunFailures {
  /**
   * Executions that ended otherwise than SUCCEEDED; those that were canceled before they were sent are not counted
   */
  total: number
  /**
   * Most frequent first
   */
  reasons: {
    /**
     * What the device reported (`statusDetails.reason`, or all status details), otherwise how the execution ended. At most 20 reasons; all others are the last entry, `other reasons`
     */
    reason: string
    count: number
    /**
     * deviceIds of up to 20 of them
     */
    sample: string[]
  }[]
  /**
   * Tags and attributes, as they are now, that the unsuccessful devices have more often than the successful ones, by at least 2 percentage points. At most 20, the largest difference first
   */
  shared: {
    /**
     * `tag`, or the name of an attribute; `reported.NAME` where the value of the owner hides the one that the device reports
     */
    name: string
    value: string | number | boolean
    /**
     * How many unsuccessful devices have it
     */
    failed: number
    /**
     * How many unsuccessful devices were compared
     */
    ofFailed: number
    /**
     * How many successful devices have it
     */
    succeeded: number
    /**
     * How many successful devices were compared
     */
    ofSucceeded: number
  }[]
}
/**
 * The plan, with `dryRun=true`
 */
export interface RunPlan {
  /**
   * Starts the run as it is shown here; valid for 10 minutes
   */
  planId: string
  /**
   * How many devices are selected
   */
  total: number
  online: number
  offline: number
  /**
   * How many of them are running an execution
   */
  busy: number
  /**
   * In the order of release; the run has the same devices in the same waves
   */
  waves: {
    size: number
    /**
     * deviceIds of the first 20
     */
    sample: string[]
  }[]
  /**
   * The document that the first device would get, with secrets masked; null if it cannot be resolved
   */
  document: {
    [k: string]: unknown
  }
  /**
   * What will hold the run back once it is created
   */
  holds: {
    /**
     * As in the explanation of an execution
     */
    code: 'SCHEDULED' | 'AWAITING_APPROVAL' | 'FROZEN' | 'OUTSIDE_WINDOW'
    /**
     * The same as a sentence
     */
    text: string
    /**
     * When it no longer holds any device back, if that is known
     */
    until: string | null
  }[]
  /**
   * What prevents the run, or is probably not what you want, as sentences: also that fewer devices of the first wave are online than its gate needs
   */
  problems: string[]
}

export interface RunTimeline {
  runId: number
  /**
   * When the run was launched
   */
  from: string
  /**
   * When it finished, or now
   */
  until: string
  /**
   * Length of a bucket; the last one may be shorter
   */
  stepMs: number
  total: number
  /**
   * How many executions were read. If fewer than `total`, counts are extrapolated; the last bucket is exact
   */
  sampled: number
  /**
   * For each state that occurred: how many executions were in it at the end of each bucket
   */
  counts: {
    PENDING?: number[]
    IN_PROGRESS?: number[]
    CANCELING?: number[]
    SUCCEEDED?: number[]
    FAILED?: number[]
    TIMED_OUT?: number[]
    REJECTED?: number[]
    EXPIRED?: number[]
    CANCELED?: number[]
  }
}

export interface Schedule {
  scheduleName: string
  jobName: string
  targets: Targets
  when: When
  /**
   * Version of the job; null: each run uses the current one
   */
  version: number | null
  parameters: {
    [k: string]: unknown
  }
  description: string | null
  rollout: Rollout | null
  approval:
    | boolean
    | {
        required: number
      }
  /**
   * Null: the job's, if it has one
   */
  window: string | null
  /**
   * Null: the job's
   */
  priority: number | null
  replaces: boolean
  overlap: 'SKIP' | 'REPLACE' | 'QUEUE'
  catchUpSeconds: number
  jitterSeconds: number
  pauseAfterFailures: number | null
  except: string[]
  until: string | null
  paused: boolean
  /**
   * The reason, as a sentence
   */
  pausedBecause: string | null
  /**
   * Who: `key:<keyId>`, `service`, or `stop rule`
   */
  pausedBy: string | null
  /**
   * The name of the key or the person in `pausedBy`; null if it is neither, or a key of another owner
   */
  pausedByName: string | null
  pausedAt: string | null
  /**
   * pausedBecause for programs; null also if an earlier version has paused it
   */
  pausedCause: SchedulePause | null
  /**
   * Its next occurrence, without jitter; null while it is paused, after its end, and with match
   */
  nextAt: string | null
  /**
   * The last occurrence that ran
   */
  lastScheduledFor: string | null
  /**
   * When that was
   */
  lastFiredAt: string | null
  /**
   * The run it created; null: none yet, or there was no device
   */
  lastRunId: number | null
  /**
   * How many of its last runs in a row failed
   */
  failures: number
  /**
   * It cannot create its run and is retried: this has failed twice or more in a row
   */
  failing: Failing | null
  createdAt: string
  updatedAt: string
  /**
   * Who last created, updated or resumed it; its runs count as created by that key
   */
  updatedBy: string | null
  /**
   * The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
   */
  updatedByName: string | null
  /**
   * The state of that key. A schedule belongs to the owner: it continues after its key has expired or was revoked, and is paused when the key is revoked with its descendants
   */
  updatedByState: ('ACTIVE' | 'EXPIRED' | 'REVOKED') | null
}
/**
 * Exactly one of cron, at and match
 */
export interface When {
  /**
   * Five fields: minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly (on Sunday), @monthly. An occurrence at a skipped local time runs at the first instant after the gap; one at a local time that occurs twice runs once
   */
  cron?: string
  /**
   * With cron: an IANA time zone; default UTC
   */
  timeZone?: string
  /**
   * Once, at this instant
   */
  at?: string
  /**
   * For every device that matches, now or as soon as it starts to match: once, unless `again` says otherwise
   */
  match?: true
  /**
   * With match: ON_NEW_VERSION gives each device every new version of the job once; WHILE_MATCHING gives a device that still matches after its execution has ended another one, after a back-off. By default, once per device
   */
  again?: 'ON_NEW_VERSION' | 'WHILE_MATCHING'
  /**
   * With again or onLeave: how long after its execution has ended a device gets the next one; doubled each time, up to a day, until it no longer matches. Default 60
   */
  backOffSeconds?: number
  /**
   * With match: cancel the pending execution of a device that no longer matches, with the cause `no-longer-matching`
   */
  onLeave?: 'CANCEL'
}

export interface SchedulePause {
  /**
   * STOP_RULE of its rollout, over its runs of the last 24 hours; FAILURES: `pauseAfterFailures` runs in a row; RUN_STOPPED: its last run was aborted or denied; REFUSED: its run cannot be created; JOB_DELETED; KEY_REVOKED with its descendants; PRINCIPAL: paused by pausedBy
   */
  rule: 'STOP_RULE' | 'FAILURES' | 'RUN_STOPPED' | 'REFUSED' | 'JOB_DELETED' | 'KEY_REVOKED' | 'PRINCIPAL'
  /**
   * Its position in rollout.stop, from 1
   */
  stopRule: number | null
  /**
   * The states that the stop rule counts
   */
  on: (
    | 'PENDING'
    | 'IN_PROGRESS'
    | 'CANCELING'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'TIMED_OUT'
    | 'REJECTED'
    | 'EXPIRED'
    | 'CANCELED'
  )[]
  /**
   * How many executions have ended in one of these states; with FAILURES, how many runs have failed
   */
  count: number | null
  /**
   * How many executions have ended in total
   */
  ended: number | null
  /**
   * count of ended
   */
  percent: number | null
}

export interface ScheduleContent {
  jobName: string
  targets: Targets
  when: When
  /**
   * Version of the job; by default, each run uses the current one
   */
  version?: number | null
  /**
   * Values of the parameters of the job, at most 16 KiB; secret ones are rejected here
   */
  parameters?: {
    [k: string]: unknown
  }
  description?: string
  rollout?: Rollout
  /**
   * Its runs are released only after others approve them: true for one approval, or the number of approvals. It can add to what the job requires, but not lower it
   */
  approval?:
    | boolean
    | {
        required: number
      }
  /**
   * Name of the window in which its runs are offered to devices; by default, the window of the job
   */
  window?: string
  /**
   * Each run cancels pending executions of the same job on its devices, with the cause `superseded`, once it is approved if it needs approval. Default false
   */
  replaces?: boolean
  /**
   * From 0 to 9; executions of its runs with a higher priority are offered first to a device. By default, the priority of the job
   */
  priority?: number
  /**
   * A device that still has an unfinished execution of this schedule: SKIP (default) skips it, REPLACE cancels a pending one, QUEUE adds another
   */
  overlap?: 'SKIP' | 'REPLACE' | 'QUEUE'
  /**
   * How late an occurrence may run after the service was down; default 3600
   */
  catchUpSeconds?: number
  /**
   * Random delay of up to this many seconds for each occurrence, the same on all nodes. Default 0
   */
  jitterSeconds?: number
  /**
   * Pause it after this many runs in a row in which no device succeeded; default: never
   */
  pauseAfterFailures?: number | null
  /**
   * With cron: dates in its time zone on which it does not run; a range such as 2026-12-24/2027-01-02 includes both ends
   *
   * @maxItems 100
   */
  except?: string[]
  /**
   * No runs are created after this time; default: no end
   */
  until?: string | null
}

export interface Secret {
  secretName: string
  /**
   * When the value was set
   */
  updatedAt: string
  /**
   * Who set the value: `key:<keyId>`
   */
  updatedBy: string
  /**
   * The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
   */
  updatedByName: string | null
  /**
   * What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>` of unfinished runs; at most 20 of each kind
   */
  usedBy: string[]
}

export interface SecretContent {
  /**
   * The value, at most 16 KiB in UTF-8. It is never shown
   */
  value: string
}

export interface Session {
  sessionId: string
  /**
   * The key it acts for
   */
  keyId: string
  keyName: string
  ownerId: string
  createdAt: string
  /**
   * Accurate to a minute
   */
  lastUsedAt: string
  /**
   * It ends then at the latest, and earlier if it is not used for `session-idle-timeout`
   */
  expiresAt: string
  /**
   * Address of the client that signed in
   */
  address: string | null
  userAgent: string | null
  /**
   * Whether this call was made with it
   */
  current: boolean
}
/**
 * Exactly one of the two fields
 */
export interface SignIn {
  apiKey?: string
  /**
   * Can be used once
   */
  ticket?: string
}

export interface SignInTicket {
  /**
   * Signs in once, as the key that requested it
   */
  ticket: string
  expiresAt: string
}
/**
 * An execution counts in the bucket in which it was launched
 */
export interface Stats {
  from: string
  until: string
  /**
   * Length of a bucket; the last one may be shorter
   */
  stepMs: number
  /**
   * Later than `from` if there were too many runs to read: what was launched before is not counted
   */
  completeFrom: string
  /**
   * How many executions the durations are taken from
   */
  sampled: number
  overall: {
    /**
     * Executions launched
     */
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
     * SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
     */
    successRate: number | null
    /**
     * From start to end of executions that SUCCEEDED; null if there are none in the sample
     */
    durationMs: {
      p50: number
      p95: number
    } | null
  }
  /**
   * Oldest first
   */
  buckets: {
    from: string
    /**
     * Executions launched
     */
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
     * SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
     */
    successRate: number | null
    /**
     * From start to end of executions that SUCCEEDED; null if there are none in the sample
     */
    durationMs: {
      p50: number
      p95: number
    } | null
  }[]
  /**
   * By job, the one with the most executions first; at most 50
   */
  jobs: {
    jobName: string
    /**
     * Executions launched
     */
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
     * SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
     */
    successRate: number | null
    /**
     * From start to end of executions that SUCCEEDED; null if there are none in the sample
     */
    durationMs: {
      p50: number
      p95: number
    } | null
  }[]
}
/**
 * The key that a ticket signs in with
 */
export interface TicketFacts {
  keyId: string
  keyName: string
  ownerId: string
  ownerName: string
  expiresAt: string
}

export interface TicketQuestion {
  ticket: string
}
/**
 * As in RFC 8693
 */
export interface TokenExchange {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange'
  /**
   * The token of the issuer
   */
  subject_token: string
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' | 'urn:ietf:params:oauth:token-type:jwt'
  requested_token_type?: 'urn:ietf:params:oauth:token-type:access_token'
  /**
   * Name or id of the owner, where several are possible
   */
  audience?: string
  /**
   * Of the sign-in of a person, for issuers that name groups at /userinfo only
   */
  access_token?: string
}

export interface TriggerRequest {
  /**
   * Name of one of the caller's jobs
   */
  jobName: string
  /**
   * One or more of the caller's devices; a device listed twice gets one execution
   *
   * @minItems 1
   * @maxItems 10000
   */
  deviceIds: string[]
}

export interface TriggeredExecution {
  /**
   * Identifies the execution; always increasing, below 2^53
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

export interface Version {
  /**
   * Version of the program
   */
  version: string
  /**
   * Version of the API; increases with a change that breaks clients
   */
  api: number
}

export interface Webhook {
  webhookName: string
  /**
   * All of it for keys with the scope `MANAGE`; for others only the scheme and host
   */
  url: string
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
  /**
   * `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence for people with a link to the console; executions are reported with their run, once it has finished
   */
  format: 'jobcast' | 'slack' | 'teams' | 'cloudevents'
  /**
   * The jobs that its events are restricted to, as the key that created it was; null: all. Cannot be changed
   */
  jobs: string[] | null
  /**
   * The selector of the devices that its events are restricted to, as the key that created it was; null: all. Cannot be changed
   */
  where: string | null
  state: 'ACTIVE' | 'PAUSED'
  /**
   * `owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a day
   */
  pausedBecause: ('owner' | 'gone' | 'failing') | null
  pausedAt: string | null
  /**
   * Last successful delivery
   */
  lastDeliveredAt: string | null
  /**
   * Since when deliveries fail; null while they succeed
   */
  failingSince: string | null
  /**
   * The last unsuccessful attempt of any event: its status and error as in the delivery log. It is kept when later events are accepted
   */
  lastFailure: WebhookFailure | null
  createdAt: string
  updatedAt: string
  /**
   * Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * The session in which the key created it; null if the key was used directly
   */
  createdBySession: string | null
}

export interface WebhookContent {
  /**
   * Where events are sent, by POST
   */
  url: string
  /**
   * Only these types; `execution.*` matches all types of a noun. Default: all events except those about access; with the formats `slack` and `teams` those that matter to people
   *
   * @maxItems 50
   */
  eventTypes?: (
    | 'run.*'
    | 'execution.*'
    | 'device.*'
    | 'fleet.*'
    | 'job.*'
    | 'group.*'
    | 'window.*'
    | 'secret.*'
    | 'file.*'
    | 'schedule.*'
    | 'key.*'
    | 'enrollment.*'
    | 'webhook.*'
    | 'session.*'
    | 'audit.*'
    | 'owner.*'
    | 'run.created'
    | 'run.finished'
    | 'run.released'
    | 'run.changed'
    | 'run.paused'
    | 'run.resumed'
    | 'run.awaiting_approval'
    | 'run.approved'
    | 'run.denied'
    | 'run.aborted'
    | 'execution.in_progress'
    | 'execution.progress'
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.rejected'
    | 'execution.timed_out'
    | 'execution.expired'
    | 'execution.canceling'
    | 'execution.canceled'
    | 'execution.pending'
    | 'device.created'
    | 'device.updated'
    | 'device.deleted'
    | 'device.online'
    | 'device.offline'
    | 'device.credential_set'
    | 'device.credential_revoked'
    | 'device.certificate_allowed'
    | 'fleet.frozen'
    | 'fleet.unfrozen'
    | 'job.changed'
    | 'job.deleted'
    | 'group.changed'
    | 'group.deleted'
    | 'window.changed'
    | 'window.deleted'
    | 'secret.changed'
    | 'secret.deleted'
    | 'file.created'
    | 'file.deleted'
    | 'schedule.changed'
    | 'schedule.deleted'
    | 'schedule.fired'
    | 'schedule.missed'
    | 'schedule.paused'
    | 'schedule.resumed'
    | 'key.created'
    | 'key.revoked'
    | 'enrollment.created'
    | 'enrollment.revoked'
    | 'webhook.created'
    | 'webhook.updated'
    | 'webhook.deleted'
    | 'session.signed_in'
    | 'session.signed_out'
    | 'audit.sealed'
    | 'owner.created'
  )[]
  /**
   * Only events of this job
   */
  jobName?: string
  /**
   * Only events of this device
   */
  deviceId?: string
  /**
   * `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence for people with a link to the console; executions are reported with their run, once it has finished
   */
  format?: 'jobcast' | 'slack' | 'teams' | 'cloudevents'
  /**
   * Signing secret; generated if omitted. It is never shown again
   */
  secret?: string
}

export interface WebhookSecret {
  webhookName: string
  /**
   * The new secret. It is shown only once; for 24 hours the previous secret signs as well
   */
  secret: string
}

export interface WebhookTestResult {
  /**
   * HTTP status; null if there was no response
   */
  status: number | null
  /**
   * Why the attempt failed, with the first 200 characters of the response; null if it succeeded. `could not connect` if the host name does not resolve, has no permitted address, or refuses connections: the log of the service has the reason
   */
  error: string | null
  /**
   * Duration in milliseconds; rounded up to whole seconds if there was no connection
   */
  ms: number
}

export interface Window {
  windowName: string
  cron: string
  durationMinutes: number
  /**
   * An IANA time zone, or `device`
   */
  timeZone: string
  cutoffMinutes: number
  except: string[]
  createdAt: string
  updatedAt: string
  /**
   * Who created it: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
   */
  createdBy: string | null
  /**
   * The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
   */
  createdByName: string | null
  /**
   * Who put it last: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
   */
  updatedBy: string | null
  /**
   * The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
   */
  updatedByName: string | null
}

export interface WindowContent {
  /**
   * When it opens: minute, hour, day of month, month, day of week
   */
  cron: string
  /**
   * How long it stays open, in minutes of elapsed time; at most a day
   */
  durationMinutes: number
  /**
   * IANA time zone of the pattern and the exceptions, or `device` (default) for the time zone of each device
   */
  timeZone?: string
  /**
   * Nothing new is offered in this many minutes before it closes; default 0
   */
  cutoffMinutes?: number
  /**
   * Local dates on which it is closed; a range includes both ends
   *
   * @maxItems 100
   */
  except?: string[]
}

export interface WindowOpening {
  /**
   * When it opens, or has opened
   */
  at: string
  /**
   * The same instant in the zone
   */
  local: string
  /**
   * Nothing new is offered after this: `until` minus the cutoff
   */
  offersUntil: string
  /**
   * When it closes
   */
  until: string
  /**
   * The same instant in the zone
   */
  localUntil: string
}

export interface WindowTimes {
  /**
   * The zone for which these are
   */
  timeZone: string
  /**
   * The first one may already be open
   */
  items: WindowOpening[]
}
