// Stored records -> API objects, field by field: a spread could leak a new column.
//
// This folder has the formats of requests and responses. Read next, for requests: json-body.ts, bytes to a JSON value;
// validation.ts, its schema; if-match.ts, idempotency-key.ts and cursor.ts, headers and positions in lists;
// pick-fields.ts and read-lines.ts, large bodies. For responses: answer-run.ts, schedule-to-wire.ts, rollout-to-wire.ts
// and stats-to-wire.ts, API objects; triggered-json.ts, JSON written by hand; error-reply.ts, errors.

import {
  type ApiKey,
  type Delivery,
  type Device,
  defaultPriority,
  type Enrollment,
  type Execution,
  type Explanation,
  type Fleet,
  type FleetDevice,
  type Group,
  type Job,
  type JobVersion,
  maxListedLeft,
  type Owner,
  type OwnKey,
  type RevokedKeys,
  type Run,
  type Session,
  type Transition,
  toInstant as toInstantText,
  toLaunchedAt,
  type Webhook,
  type Window,
} from '@jobcast/contract'
import type { Revoked } from '../../domain/access/api-key.ts'
import type { Caller } from '../../domain/access/caller.ts'
import type { Made } from '../../domain/access/changers.ts'
import { type KeyNames, nameOf } from '../../domain/access/key-names.ts'
import type { StoredApiKey } from '../../domain/access/ports/api-keys.ts'
import type { StoredOwner } from '../../domain/access/ports/owners.ts'
import type { ListedSession, SessionPerson } from '../../domain/access/ports/sessions.ts'
import { principalOf, shownActor } from '../../domain/access/principal.ts'
import { type BothClocks, onWallClock, type WallInstant } from '../../domain/common/instants.ts'
import { contentOf } from '../../domain/device/device-content.ts'
import type { StoredDevice } from '../../domain/device/ports/devices.ts'
import type { StoredEnrollment } from '../../domain/device/ports/enrollments.ts'
import type { StoredFleetDevice, WaitingExecution } from '../../domain/device/ports/fleet.ts'
import type { FleetNow } from '../../domain/device/read-fleet.ts'
import type { Explanation as ExplanationFound } from '../../domain/execution/explanation.ts'
import type { StoredExecution, StoredTransition } from '../../domain/execution/ports/executions.ts'
import { isFinished } from '../../domain/execution/read-execution.ts'
import type { StoredJob, StoredJobContent, StoredJobVersion } from '../../domain/job/ports/jobs.ts'
import type { RolloutViews } from '../../domain/rollout/view-rollout.ts'
import type { StoredGroup } from '../../domain/selector/ports/groups.ts'
import type { StoredRun } from '../../domain/trigger/ports/runs.ts'
import type { StoredDelivery, StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { shownUrl } from '../../domain/webhook/webhook.ts'
import { shownName } from '../../domain/webhook/webhook-scope.ts'
import type { StoredWindow } from '../../domain/window/ports/windows.ts'

import { toDecision, toRolloutProgress } from './rollout-to-wire.ts'

/** Accepts only instants of the wall clock, which people read. */
function toInstant(at: WallInstant): string {
  return toInstantText(at)
}

function toInstantOrNull(at: WallInstant | null): string | null {
  return at === null ? null : toInstant(at)
}

export function toExecution(stored: StoredExecution, now: BothClocks): Execution {
  return {
    jobExecutionId: stored.jobExecutionId,
    jobName: stored.jobName,
    deviceId: stored.deviceId,
    deviceName: stored.deviceName,
    execState: stored.execState,
    launchedAt: toLaunchedAt(stored.launchedAt),
    runId: stored.runId,
    priority: stored.priority,
    attempt: stored.attempt,
    versionNumber: stored.versionNumber,
    startedAt: toInstantOrNull(stored.startedAt),
    finishedAt: toInstantOrNull(stored.finishedAt),
    notifiedAt: toInstantOrNull(stored.notifiedAt),
    deliveredAt: toInstantOrNull(stored.deliveredAt),
    notBefore: toInstantOrNull(onWallClock(stored.notBefore, now)),
    statusDetails: stored.statusDetails,
    result: stored.result,
    outputBytes: stored.outputBytes,
    outputCut: stored.outputCut,
  }
}

export function toTransition(stored: StoredTransition): Transition {
  return {
    at: toInstant(stored.at),
    from: stored.from,
    to: stored.to,
    event: stored.event,
    actor: shownActor(stored.actor),
    actorName: stored.actorName,
    attempt: stored.attempt,
    versionNumber: stored.versionNumber,
    reason: stored.reason,
  }
}

export function toExplanation(
  { jobExecutionId, execState }: StoredExecution,
  { code, text, since, until, expiresAt = null, behind }: ExplanationFound,
): Explanation {
  return {
    jobExecutionId,
    execState,
    code,
    text,
    since: toInstantOrNull(since),
    until: toInstantOrNull(until),
    expiresAt: toInstantOrNull(expiresAt),
    behind,
  }
}

export function toRun(stored: StoredRun, rollouts: RolloutViews): Run {
  const rollout = rollouts.get(stored.runId)
  return {
    runId: stored.runId,
    jobName: stored.jobName,
    version: stored.version,
    parameters: stored.parameters,
    launchedAt: toLaunchedAt(stored.launchedAt),
    total: stored.total,
    counts: stored.counts,
    finished: isFinished(stored),
    finishedAt: toInstantOrNull(stored.endedAt),
    retryOf: stored.retryOf,
    rollbackOf: stored.rollbackOf,
    createdBy: stored.keyId === null ? null : principalOf({ keyId: stored.keyId }),
    createdByName: stored.keyName,
    where: stored.where,
    matched: stored.matched,
    note: stored.note,
    scheduleName: stored.scheduleName,
    scheduledFor: toInstantOrNull(stored.scheduledFor),
    rollout: rollout ? toRolloutProgress(rollout) : null,
    window: stored.window,
    approvals: rollout?.decisions.map(toDecision) ?? [],
    priority: stored.priority,
    replaces: stored.replaces,
  }
}

export function toFleet({ devices, online, waiting, running, lastHour, ...fleet }: FleetNow): Fleet {
  const { from, stepMs, points } = fleet.history
  return {
    devices: { total: devices, online },
    waiting,
    running,
    lastHour: { succeeded: lastHour.succeeded, failed: lastHour.failed },
    oldestWaiting: fleet.oldestWaiting ? toWaiting(fleet.oldestWaiting) : null,
    history: {
      from: toInstant(from),
      stepSeconds: stepMs / 1000,
      waiting: points.map((point) => point.waiting),
      running: points.map((point) => point.running),
      succeeded: points.map((point) => point.succeeded),
      failed: points.map((point) => point.failed),
    },
  }
}

function toWaiting(stored: WaitingExecution): NonNullable<Fleet['oldestWaiting']> {
  return {
    jobExecutionId: stored.jobExecutionId,
    runId: stored.runId,
    jobName: stored.jobName,
    deviceId: stored.deviceId,
    launchedAt: toLaunchedAt(stored.launchedAt),
  }
}

export function toFleetDevice({ deviceId, online, ...device }: StoredFleetDevice): FleetDevice {
  const { lastExecution, lastEnded, running } = device
  return {
    deviceId,
    online,
    lastExecution: lastExecution && toShortExecution(lastExecution),
    lastEnded: lastEnded && toShortExecution(lastEnded),
    running: running && toShortExecution(running),
  }
}

function toShortExecution({ jobExecutionId, execState }: NonNullable<StoredFleetDevice['running']>) {
  return { jobExecutionId, execState }
}

export function toJob(stored: StoredJob, keyNames: KeyNames): Job {
  return {
    jobName: stored.jobName,
    version: stored.version,
    ...toContent(stored),
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    updatedBy: stored.updatedBy,
    updatedByName: nameOf(keyNames, stored.updatedBy),
  }
}

export function toJobVersion(stored: StoredJobVersion, keyNames: KeyNames): JobVersion {
  return {
    jobName: stored.jobName,
    version: stored.version,
    isCurrent: stored.isCurrent,
    ...toContent(stored),
    createdAt: toInstant(stored.createdAt),
    createdBy: stored.createdBy,
    createdByName: nameOf(keyNames, stored.createdBy),
  }
}

function toContent(stored: StoredJobContent) {
  return {
    description: stored.description,
    document: stored.document,
    parameters: stored.parameters ?? null,
    expireAfterSeconds: stored.expireAfterSeconds,
    timeoutSeconds: stored.timeoutSeconds,
    deadlineSeconds: stored.deadlineSeconds,
    retry: stored.retry,
    rollout: stored.rollout ?? null,
    approval: stored.approval ?? false,
    window: stored.window ?? null,
    priority: stored.priority ?? defaultPriority,
    signatures: stored.signatures ? [stored.signatures] : [],
  }
}

function toMakers({ createdBy, updatedBy }: Pick<Made, 'createdBy' | 'updatedBy'>, keyNames: KeyNames) {
  const [createdByName, updatedByName] = [nameOf(keyNames, createdBy), nameOf(keyNames, updatedBy)]
  return { createdBy, createdByName, updatedBy, updatedByName }
}

export function toGroup(stored: StoredGroup, keyNames: KeyNames): Group {
  return {
    groupName: stored.groupName,
    where: stored.where,
    description: stored.description,
    window: stored.window,
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    ...toMakers(stored, keyNames),
  }
}

export function toWindow(stored: StoredWindow, keyNames: KeyNames): Window {
  return {
    windowName: stored.windowName,
    cron: stored.cron,
    durationMinutes: stored.durationMinutes,
    timeZone: stored.timeZone,
    cutoffMinutes: stored.cutoffMinutes,
    except: stored.except,
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    ...toMakers(stored, keyNames),
  }
}

export function toDevice(stored: StoredDevice, keyNames: KeyNames): Device {
  const { deviceName, tags, attributes, ...others } = contentOf(stored)
  const { deviceId, reportedAttributes } = stored
  return {
    ...{ deviceId, deviceName, tags, attributes, reportedAttributes },
    ...others,
    credentialCreatedAt: toInstantOrNull(stored.credentialCreatedAt),
    credentialCreatedBy: stored.credentialCreatedBy,
    credentialCreatedByName: nameOf(keyNames, stored.credentialCreatedBy),
    certificateRevokedAt: toInstantOrNull(stored.certificateRevokedAt),
    online: stored.presence.online,
    since: toInstantOrNull(stored.presence.since),
    lastSeenAt: toInstantOrNull(stored.presence.lastSeenAt),
    transport: stored.presence.transport,
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
  }
}

export function toEnrollment(stored: StoredEnrollment, keyNames: KeyNames): Enrollment {
  return {
    enrollmentId: stored.enrollmentId,
    name: stored.name,
    maxUses: stored.maxUses,
    used: stored.used,
    tags: stored.tags,
    deviceIdPrefix: stored.deviceIdPrefix,
    expiresAt: toInstant(stored.expiresAt),
    createdAt: toInstant(stored.createdAt),
    revokedAt: toInstantOrNull(stored.revokedAt),
    createdBy: stored.createdBy,
    createdByName: nameOf(keyNames, stored.createdBy),
    createdBySession: stored.createdBySession,
  }
}

export function toWebhook(stored: StoredWebhook, caller: Caller, keyNames: KeyNames): Webhook {
  return {
    webhookName: shownName(caller, stored.webhookName),
    url: shownUrl(stored, caller),
    eventTypes: stored.eventTypes,
    jobName: stored.jobName,
    deviceId: stored.deviceId,
    format: stored.format,
    jobs: stored.restriction?.jobs?.slice() ?? null,
    where: stored.restriction?.where ?? null,
    state: stored.pausedBecause === null ? 'ACTIVE' : 'PAUSED',
    pausedBecause: stored.pausedBecause,
    pausedAt: toInstantOrNull(stored.pausedAt),
    lastDeliveredAt: toInstantOrNull(stored.lastDeliveredAt),
    failingSince: toInstantOrNull(stored.failingSince),
    lastFailure: stored.lastFailure && { ...stored.lastFailure, at: toInstant(stored.lastFailure.at) },
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    createdBy: stored.createdBy,
    createdByName: nameOf(keyNames, stored.createdBy),
    createdBySession: stored.createdBySession,
  }
}

export function toDelivery(stored: StoredDelivery): Delivery {
  return {
    eventId: stored.eventId,
    type: stored.type,
    state: stored.state,
    attempts: stored.attempts.map(({ at, status, error, ms }) => ({ at: toInstant(at), status, error, ms })),
    nextAttemptAt: toInstantOrNull(stored.nextAt),
  }
}

export function toRevokedKeys({ keyIds, enrollmentIds, pausedSchedules, pausedRuns }: Revoked): RevokedKeys {
  return {
    revokedKeys: keyIds.length,
    revokedEnrollments: enrollmentIds.length,
    pausedSchedules: pausedSchedules.slice(0, maxListedLeft),
    pausedRuns: pausedRuns.slice(0, maxListedLeft),
    isMore: Math.max(pausedSchedules.length, pausedRuns.length) > maxListedLeft,
  }
}

export function toApiKey(stored: StoredApiKey, keyNames: KeyNames): ApiKey {
  return {
    keyId: stored.keyId,
    keyName: stored.keyName,
    ownerId: stored.ownerId,
    scopes: stored.scopes,
    jobs: stored.restriction?.jobs ? [...stored.restriction.jobs] : null,
    where: stored.restriction?.where ?? null,
    addresses: stored.restriction?.addresses ? [...stored.restriction.addresses] : null,
    expiresAt: toInstantOrNull(stored.expiresAt),
    createdAt: toInstant(stored.createdAt),
    revokedAt: toInstantOrNull(stored.revokedAt),
    lastUsedAt: toInstantOrNull(stored.lastUsedAt),
    createdBy: stored.createdBy,
    createdByName: nameOf(keyNames, stored.createdBy),
    createdBySession: stored.createdBySession,
  }
}

/** `person`: the person of the session. */
export function toOwnKey(key: ApiKey, owner: StoredOwner | undefined, person: SessionPerson | null): OwnKey {
  return {
    ...key,
    principal: principalOf(key),
    name: key.keyName,
    email: person?.email ?? null,
    ownerName: owner?.ownerName ?? key.ownerId,
    owners: person?.owners ?? [],
  }
}

/** `currentId`: the session of the caller. */
export function toSession(stored: ListedSession, currentId: string | undefined): Session {
  return {
    sessionId: stored.sessionId,
    keyId: stored.keyId,
    keyName: stored.keyName,
    ownerId: stored.ownerId,
    createdAt: toInstant(stored.createdAt),
    lastUsedAt: toInstant(stored.lastUsedAt),
    expiresAt: toInstant(stored.expiresAt),
    address: stored.address,
    userAgent: stored.userAgent,
    current: stored.sessionId === currentId,
  }
}

export function toOwner(stored: StoredOwner): Owner {
  return {
    ownerId: stored.ownerId,
    ownerName: stored.ownerName,
    createdAt: toInstant(stored.createdAt),
  }
}
