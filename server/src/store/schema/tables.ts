// The tables of both stores, in the order in which an export can be imported into an empty database. The types of rows and
// the format of exports are derived from this description. A test compares it with the schema.sql of both stores. Fields have
// the names of the domain; columns with other names specify them.

import type {
  EventType,
  PauseReason,
  RolloutState,
  SchedulePause,
  Scope,
  WebhookFormat,
} from '@jobcast/contract'
import type { Seal } from '@jobcast/contract/audit'
import type { ParameterValue, ParameterValues } from '@jobcast/contract/parameters'
import type { AttributeValue } from '@jobcast/contract/selector'
import type { Changer } from '../../domain/access/changers.ts'
import type { SessionKind, SessionPerson } from '../../domain/access/ports/sessions.ts'
import type { Restriction } from '../../domain/access/restriction.ts'
import type { FailingKind } from '../../domain/common/ports/failing-tasks.ts'
import type { OwnFields } from '../../domain/device/ports/devices.ts'
import type { Transport } from '../../domain/device/ports/presence.ts'
import type { ExecutionEvent } from '../../domain/execution/execution.ts'
import type { StoredJobContent } from '../../domain/job/ports/jobs.ts'
import type { RolloutDetails, RolloutPlan } from '../../domain/rollout/rollout.ts'
import type {
  StartedOccurrence,
  StopBaseline,
  StoredScheduleContent,
} from '../../domain/schedule/ports/schedules.ts'
import type { BoundTo, StoredPlan } from '../../domain/trigger/ports/plans.ts'
import type { AttemptFailure, StoredAttempt, StoredDelivery } from '../../domain/webhook/ports/webhooks.ts'
import {
  bytes,
  type Field,
  flag,
  json,
  number,
  onlyOn,
  orNull,
  state,
  steady,
  type Table,
  table,
  text,
} from './column.ts'

export const owner = table('owner', ['ownerNo'], {
  ownerNo: number(),
  ownerId: text(),
  ownerName: text(),
  createdAt: number(),
  purgedEventId: number(),
  renamedExecutionId: onlyOn('postgres', number()),
})

export const apiKey = table('api_key', ['keyId'], {
  keyId: text(),
  ownerNo: number(),
  keyName: text(),
  secretHash: bytes(),
  scopes: json<Scope[]>(),
  restriction: orNull(json<Restriction>()),
  expiresAt: orNull(number()),
  revokedAt: orNull(number()),
  lastUsedAt: orNull(number()),
  createdAt: number(),
  createdBy: orNull(text()),
  createdBySession: orNull(text()),
})

export const job = table('job', ['jobNo'], {
  jobNo: number(),
  ownerNo: number(),
  jobName: text(),
  versionNo: number(),
  createdAt: number(),
  updatedAt: number(),
  deletedAt: orNull(number()),
})

export const jobVersion = table('job_version', ['versionNo'], {
  versionNo: number(),
  jobNo: number(),
  content: json<StoredJobContent>(),
  version: number(),
  createdAt: number(),
  createdBy: orNull(text()),
  secrets: orNull(json<string[]>()),
  files: orNull(json<string[]>()),
})

export const device = table('device', ['deviceNo'], {
  deviceNo: number(),
  ownerNo: number(),
  deviceId: text(),
  deviceName: text(),
  tags: json<string[]>(),
  tokenId: orNull(text()),
  tokenHash: orNull(bytes()),
  tokenCreatedAt: orNull(number()),
  createdAt: number(),
  updatedAt: number(),
  deletedAt: orNull(number()),
  online: flag(),
  presenceSince: orNull(number()),
  lastSeenAt: orNull(number()),
  transport: orNull(text<Transport>()),
  nodeNo: onlyOn('postgres', orNull(number())),
  sessionSince: onlyOn('postgres', orNull(steady())),
  revokedAt: orNull(number()),
  claimHash: orNull(bytes()),
  tokenCreatedBy: orNull(text()),
})
/** What its owner puts; attributes and the window are in tables of their own. */
export const devicePutFields = device.pick('deviceName', 'tags') satisfies Record<
  Exclude<keyof OwnFields, 'attributes' | 'window'>,
  Field
>

export const deviceTag = table('device_tag', ['ownerNo', 'tag', 'deviceId'], {
  ownerNo: number(),
  tag: text(),
  deviceId: text(),
})

/** `value` is JSON; `sortKey` has the order of values. `zone`: the zone of an attribute timeZone. */
export const deviceAttribute = table('device_attribute', ['deviceNo', 'name', 'isReported'], {
  deviceNo: number(),
  name: text(),
  isReported: flag('reported'),
  ownerNo: number(),
  value: json<AttributeValue>(),
  sortKey: text(),
  isShadowed: flag('shadowed'),
  zone: orNull(text()),
})

export const deviceGroup = table('device_group', ['ownerNo', 'groupName'], {
  ownerNo: number(),
  groupName: text(),
  where: text('where_text'),
  description: orNull(text()),
  window: orNull(text('window_name')),
  changers: orNull(json<Changer[]>('changed_by')),
  createdAt: number(),
  updatedAt: number(),
  createdBy: orNull(text()),
  updatedBy: orNull(text()),
})

/** The windows of a device: its own, with the group '', and those of its groups. `until`: null while it applies. */
export const deviceWindow = table('device_window', ['deviceNo', 'groupName', 'since'], {
  deviceNo: number(),
  groupName: text(),
  since: steady('since_clock'),
  ownerNo: number(),
  windowName: text(),
  until: orNull(steady('until_clock')),
})

/** Owners whose groups have changed, with the last device that was checked since then. */
export const groupSweep = table('group_sweep', ['ownerNo'], {
  ownerNo: number(),
  afterDeviceId: text(),
})

export const offerWindow = table('offer_window', ['ownerNo', 'windowName'], {
  ownerNo: number(),
  windowName: text(),
  cron: text(),
  durationMinutes: number(),
  timeZone: text(),
  cutoffMinutes: number(),
  except: json<string[]>('except_dates'),
  version: number(),
  openZones: text(),
  changers: orNull(json<Changer[]>('changed_by')),
  createdAt: number(),
  updatedAt: number(),
  createdBy: orNull(text()),
  updatedBy: orNull(text()),
})

/** When each window was open, by zone; '' is the fleet, which is closed while it is frozen. */
export const offerHistory = table('offer_history', ['ownerNo', 'windowName', 'clock'], {
  ownerNo: number(),
  windowName: text(),
  clock: steady(),
  openZones: text(),
})

/** `sealed`: encrypted. Each name has one current version; other versions have a `replacedAt`. */
export const secret = table('secret', ['ownerNo', 'secretName', 'version'], {
  ownerNo: number(),
  secretName: text(),
  version: number(),
  sealed: text(),
  updatedAt: number(),
  updatedBy: text(),
  replacedAt: orNull(number()),
})

/** `url`: where the content is, if it is not stored here. */
export const fileVersion = table('file_version', ['ownerNo', 'fileName', 'version'], {
  ownerNo: number(),
  fileName: text(),
  version: text(),
  putNo: number(),
  size: number(),
  sha256: text(),
  sha1: orNull(text()),
  url: orNull(text()),
  createdAt: number(),
  createdBy: text(),
  md5: orNull(text()),
})

export const deviceRename = table('device_rename', ['deviceNo', 'lastExecutionId'], {
  deviceNo: number(),
  lastExecutionId: number(),
  deviceName: text(),
})

export const enrollment = table('enrollment', ['enrollmentId'], {
  enrollmentId: text(),
  ownerNo: number(),
  name: orNull(text()),
  secretHash: bytes(),
  maxUses: number(),
  used: number(),
  tags: json<string[]>(),
  deviceIdPrefix: orNull(text()),
  expiresAt: number(),
  revokedAt: orNull(number()),
  createdAt: number(),
  createdBy: orNull(text()),
  createdBySession: orNull(text()),
})

export const run = table('run', ['runId'], {
  runId: number(),
  ownerNo: number(),
  jobNo: number(),
  jobVersion: number('version_no'),
  launchedAt: number(),
  firstExecutionId: number(),
  total: number(),
  PENDING: number('pending'),
  IN_PROGRESS: number('in_progress'),
  CANCELING: number('canceling'),
  SUCCEEDED: number('succeeded'),
  FAILED: number('failed'),
  TIMED_OUT: number('timed_out'),
  REJECTED: number('rejected'),
  EXPIRED: number('expired'),
  CANCELED: number('canceled'),
  ended: onlyOn('postgres', flag()),
  endedAt: orNull(number()),
  expireAt: orNull(steady()),
  deadlineAt: orNull(steady()),
  keyId: orNull(text()),
  retryOf: orNull(number()),
  traceParent: orNull(text()),
})

/** The options of a run, if its request had more than a list of devices. */
export const runRequest = table('run_request', ['runId'], {
  runId: number(),
  where: orNull(text('where_text')),
  matched: orNull(number()),
  note: orNull(text()),
  rollbackOf: orNull(number()),
  rollbackOnce: orNull(number()),
  scheduleNo: orNull(number()),
  scheduleName: orNull(text()),
  scheduledFor: orNull(number()),
  window: orNull(text('window_name')),
  priority: orNull(number()),
  planId: orNull(text()),
  plannedBy: orNull(text()),
  replaces: orNull(number()),
})

/** Plans of runs, stored as long as they can be started. `parameters` has secrets masked, `secrets` has them encrypted. */
export const runPlan = table('run_plan', ['ownerNo', 'planId'], {
  ownerNo: number(),
  planId: text(),
  plannedBy: text(),
  createdAt: steady(),
  request: json<StoredPlan['request']>(),
  parameters: orNull(json<ParameterValues>()),
  secrets: orNull(text()),
  boundTo: json<BoundTo>(),
  size: number(),
})

/** The values of a job's parameters. `parameters` has secrets masked, `secrets` has them encrypted. */
export const runParameters = table('run_parameters', ['runId'], {
  runId: number(),
  parameters: json<Record<string, ParameterValue>>(),
  secrets: orNull(text()),
})

/** Large runs that are being written. */
export const runDraft = table('run_draft', ['runId'], {
  runId: number(),
  ownerNo: number(),
  firstExecutionId: number(),
  total: number(),
  nodeNo: number(),
  createdAt: number(),
})

/** The rollouts of runs. */
export const rollout = table('rollout', ['runId'], {
  runId: number(),
  ownerNo: number(),
  firstExecutionId: number(),
  total: number(),
  state: text<RolloutState>(),
  released: number(),
  heldFrom: orNull(number()),
  isOpen: flag(),
  nextAt: orNull(steady()),
  version: number(),
  plan: json<RolloutPlan>(),
  status: json<RolloutDetails>(),
  startAt: orNull(number()),
})

/** Executions that were released together, if the job has timers. */
export const release = table('rollout_release', ['runId', 'first'], {
  runId: number(),
  first: number('first_execution_id'),
  last: number('last_execution_id'),
  expireAt: orNull(steady()),
  deadlineAt: orNull(steady()),
  deadlineDueAt: orNull(steady()),
  countsFrom: orNull(steady()),
})

export const freeze = table('fleet_freeze', ['ownerNo'], {
  ownerNo: number(),
  reason: text(),
  principal: text(),
  at: number(),
  until: orNull(number()),
})

export const schedule = table('schedule', ['scheduleNo'], {
  scheduleNo: number(),
  ownerNo: number(),
  scheduleName: text(),
  jobName: text(),
  content: json<StoredScheduleContent>(),
  keyId: text(),
  createdAt: number(),
  updatedAt: number(),
  version: number(),
  nextFor: orNull(number()),
  dueAt: orNull(number()),
  handledAt: number(),
  occurrence: orNull(json<StartedOccurrence>()),
  lastFor: orNull(number()),
  lastFiredAt: orNull(number()),
  lastRunId: orNull(number()),
  watchedRunId: orNull(number()),
  failures: number(),
  failuresAfter: number(),
  pausedBecause: orNull(text()),
  pausedBy: orNull(text()),
  pausedAt: orNull(number()),
  isMatch: flag(),
  cursor: number('cursor_id'),
  matchedWhere: orNull(text()),
  pausedCause: orNull(json<SchedulePause>()),
  stopBaseline: orNull(json<StopBaseline>()),
})

/** Devices that got the job of a schedule with match. */
export const scheduleDevice = table('schedule_device', ['scheduleNo', 'deviceNo'], {
  scheduleNo: number(),
  deviceNo: number(),
  jobExecutionId: orNull(number('execution_id')),
  jobVersion: orNull(number('version_no')),
  times: orNull(number()),
  endedAt: orNull(steady()),
  againAt: orNull(steady()),
})

export const execution = table('execution', ['jobExecutionId'], {
  jobExecutionId: number('execution_id'),
  runId: number(),
  ownerNo: number(),
  deviceNo: number(),
  execState: state('state'),
  attempt: number(),
  versionNumber: number(),
  outputBytes: number(),
  outputCut: flag(),
  startedAt: orNull(number()),
  finishedAt: orNull(number()),
  notifiedAt: orNull(number()),
  deliveredAt: orNull(number()),
  notBefore: orNull(steady()),
  dueAt: orNull(steady()),
  updatedAt: orNull(number()),
  cancelVersion: orNull(number()),
  seenReports: orNull(text('seen_report')),
  statusDetails: orNull(json<Record<string, string>>()),
  result: orNull(json<unknown>()),
  progressAt: orNull(steady()),
  progressHeld: flag(),
  progressBytes: number(),
  outputPieces: number(),
  heldMs: number(),
  waitsFrom: orNull(steady()),
  /** Null: the default. */
  priority: orNull(number()),
})

export const transition = table('transition', ['jobExecutionId', 'versionNumber'], {
  jobExecutionId: number('execution_id'),
  versionNumber: number(),
  at: number(),
  from: state('from_state'),
  to: state('to_state'),
  event: text<ExecutionEvent>(),
  actor: text(),
  attempt: number(),
  reason: orNull(text()),
})

export const output = table('output', ['jobExecutionId', 'attempt', 'start'], {
  jobExecutionId: number('execution_id'),
  attempt: number(),
  start: number(),
  data: bytes(),
})

/** For outputs with secrets. `received`: the number of bytes from the device; `held`: the last bytes, encrypted. */
export const maskedOutput = table('masked_output', ['jobExecutionId'], {
  jobExecutionId: number('execution_id'),
  attempt: number(),
  received: number(),
  held: orNull(text()),
})

export const idempotencyKey = table('idempotency_key', ['ownerNo', 'key'], {
  ownerNo: number(),
  key: text('idempotency_key'),
  requestHash: bytes(),
  runId: number(),
  createdAt: steady(),
})

export const event = table('event', ['ownerNo', 'eventId'], {
  ownerNo: number(),
  eventId: number(),
  at: number(),
  type: text<EventType>(),
  runId: orNull(number()),
  jobExecutionId: orNull(number('execution_id')),
  deviceNo: orNull(number()),
  from: orNull(state('from_state')),
  cause: orNull(text()),
  actor: orNull(text()),
  attempt: orNull(number()),
  versionNumber: orNull(number()),
  details: orNull(json<Record<string, unknown>>()),
})

export const auditEntry = table('audit_entry', ['ownerNo', 'auditId'], {
  ownerNo: number(),
  auditId: number(),
  at: number(),
  principal: text(),
  action: text(),
  subject: text(),
  /** The sealed text, which is never parsed here. */
  details: text(),
})

export const auditSeal = table('audit_seal', ['ownerNo', 'sealNo'], {
  ownerNo: number(),
  sealNo: number(),
  firstAuditId: number(),
  lastAuditId: number(),
  at: number(),
  seal: json<Seal>(),
  leaves: bytes(),
  announcedAt: orNull(number()),
})

export const webhook = table('webhook', ['webhookNo'], {
  webhookNo: number(),
  ownerNo: number(),
  webhookName: text(),
  url: text(),
  eventTypes: json<string[]>(),
  jobName: orNull(text()),
  deviceId: orNull(text()),
  secret: text(),
  oldSecret: orNull(text()),
  oldSecretUntil: orNull(number()),
  pausedBecause: orNull(text<PauseReason>()),
  pausedAt: orNull(number()),
  lastDeliveredAt: orNull(number()),
  failingSince: orNull(number()),
  cursor: number('cursor_id'),
  round: number(),
  createdAt: number(),
  updatedAt: number(),
  createdBy: orNull(text()),
  createdBySession: orNull(text()),
  format: text<WebhookFormat>(),
  lastFailure: orNull(json<AttemptFailure>()),
  restriction: orNull(json<Restriction>()),
})

/** The last event of an owner that was published on a broker. */
export const bridgeCursor = table('bridge_cursor', ['bridgeName'], {
  bridgeName: text(),
  ownerNo: number(),
  eventId: number(),
})

export const delivery = table('webhook_delivery', ['webhookNo', 'eventId'], {
  webhookNo: number(),
  eventId: number(),
  round: number(),
  type: text(),
  subject: text(),
  state: text<StoredDelivery['state']>(),
  tries: number(),
  attempts: json<StoredAttempt[]>(),
  nextAt: orNull(number()),
})

export const session = table('session', ['sessionId'], {
  sessionId: text(),
  kind: text<SessionKind>(),
  keyId: text(),
  ownerNo: number(),
  secretHash: bytes(),
  parentId: orNull(text()),
  address: orNull(text()),
  userAgent: orNull(text()),
  createdAt: number(),
  lastUsedAt: number(),
  expiresAt: number(),
  person: orNull(json<SessionPerson>()),
  tokens: orNull(text()),
  checkedAt: orNull(number()),
  triedAt: orNull(number()),
})

export const lastId = table('last_id', [], {
  runId: number(),
  jobExecutionId: number('execution_id'),
})

/** One row: both clocks at the same instant. */
export const steadyClock = table('steady_clock', [], { clock: steady(), at: number() })

/** Background tasks whose writes fail. */
export const failingTask = table('failing_task', ['kind', 'taskNo'], {
  kind: text<FailingKind>(),
  taskNo: number(),
  since: number(),
  lastAt: number(),
  times: number(),
  message: text(),
})

/** Ids of purged executions whose history and output still need space. */
export const purgedRange = table('purged_range', ['first'], {
  first: number('first_execution_id'),
  last: number('last_execution_id'),
})

/** Only on PostgreSQL: the ranges of ids by which executions are partitioned. */
export const partition = table('execution_partition', ['firstId'], {
  firstId: number(),
  endId: number(),
  beganAt: orNull(number()),
})

/** Only on PostgreSQL: the nodes that use the database. */
export const node = table('node', ['nodeNo'], { nodeNo: number(), beat: number('beat_at') })

/** All tables of both stores. */
export const tables: readonly Table[] = [
  owner,
  apiKey,
  job,
  jobVersion,
  device,
  deviceTag,
  deviceAttribute,
  deviceGroup,
  offerWindow,
  offerHistory,
  deviceWindow,
  groupSweep,
  secret,
  fileVersion,
  deviceRename,
  enrollment,
  run,
  runRequest,
  runParameters,
  runPlan,
  runDraft,
  rollout,
  release,
  freeze,
  schedule,
  scheduleDevice,
  execution,
  transition,
  maskedOutput,
  output,
  idempotencyKey,
  event,
  auditEntry,
  auditSeal,
  webhook,
  bridgeCursor,
  delivery,
  session,
  lastId,
  steadyClock,
  failingTask,
  purgedRange,
]
