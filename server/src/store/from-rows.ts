// What the port speaks of, from rows that both databases give alike. Where they differ, the difference is in their own files.

import type { EventType, ExecState } from '@jobcast/contract'
import { execStates } from '@jobcast/contract/words'
import type { StoredEvent } from '../domain/event.ts'
import type { SteadyInstant } from '../domain/instants.ts'
import type { Candidate } from '../domain/judge-enrollment.ts'
import type { SessionKind, StoredSession } from '../domain/session-store.ts'
import type {
  StoredApiKey,
  StoredEnrollment,
  StoredExecution,
  StoredOwner,
  StoredRun,
} from '../domain/store.ts'

type Row = Record<string, unknown>

/** In a run, the count of a state is the column of its name. */
export const countColumn = (state: ExecState): string => state.toLowerCase()

export function toOwner(row: Row): StoredOwner {
  return {
    ownerNo: row.owner_no as number,
    ownerId: row.owner_id as string,
    ownerName: row.owner_name as string,
    createdAt: row.created_at as number,
  }
}

export function toApiKey(row: Row): StoredApiKey {
  return {
    keyId: row.key_id as string,
    ownerNo: row.owner_no as number,
    ownerId: row.owner_id as string,
    keyName: row.key_name as string,
    secretHash: row.secret_hash as Uint8Array,
    scopes: JSON.parse(row.scopes as string),
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
    createdAt: row.created_at as number,
  }
}

export function toSession(row: Row): StoredSession {
  return {
    sessionId: row.session_id as string,
    kind: row.kind as SessionKind,
    keyId: row.key_id as string,
    secretHash: row.secret_hash as Uint8Array,
    expiresAt: row.expires_at as number,
  }
}

export function toEnrollment(row: Row): StoredEnrollment {
  return {
    enrollmentId: row.enrollment_id as string,
    ownerNo: row.owner_no as number,
    name: row.name as string | null,
    secretHash: row.secret_hash as Uint8Array,
    maxUses: row.max_uses as number,
    used: row.used as number,
    tags: JSON.parse(row.tags as string),
    deviceIdPrefix: row.device_id_prefix as string | null,
    expiresAt: row.expires_at as number,
    revokedAt: row.revoked_at as number | null,
    createdAt: row.created_at as number,
  }
}

/** The device that wants to enrol, if it is there already. */
export function toCandidate(row: Row): Candidate {
  return {
    credentialCreatedAt: row.token_created_at as number | null,
    revokedAt: row.revoked_at as number | null,
    lastSeenAt: row.last_seen_at as number | null,
    claimHash: row.claim_hash as Uint8Array | null,
  }
}

export function toRun(row: Row): StoredRun {
  return {
    runId: row.run_id as number,
    jobName: row.job_name as string,
    jobVersion: row.version_no as number,
    launchedAt: row.launched_at as number,
    total: row.total as number,
    counts: countsOf(row),
    retryOf: row.retry_of as number | null,
  }
}

export function countsOf(row: Row): StoredRun['counts'] {
  const counts = execStates.map((state) => [state, row[countColumn(state)]])
  return Object.fromEntries(counts) as StoredRun['counts']
}

export function toExecution(row: Row): StoredExecution {
  return {
    jobExecutionId: row.execution_id as number,
    jobName: row.job_name as string,
    deviceId: row.device_id as string,
    deviceName: row.device_name as string,
    execState: row.state as ExecState,
    launchedAt: row.launched_at as number,
    runId: row.run_id as number,
    attempt: row.attempt as number,
    versionNumber: row.version_number as number,
    startedAt: row.started_at as number | null,
    finishedAt: row.finished_at as number | null,
    notifiedAt: row.notified_at as number | null,
    deliveredAt: row.delivered_at as number | null,
    notBefore: row.not_before as SteadyInstant | null,
    statusDetails: row.status_details === null ? {} : JSON.parse(row.status_details as string),
    result: row.result === null ? null : JSON.parse(row.result as string),
    outputBytes: row.output_bytes as number,
    outputCut: Boolean(row.output_cut), // SQLite has 0 and 1
  }
}

/** The newest event of an owner stays whatever its age, so it may outlive its run. */
export function isForgotten(row: Row): boolean {
  return row.run_id !== null && row.job_name === null
}

export function toEvent(row: Row): StoredEvent {
  return {
    eventId: row.event_id as number,
    type: row.type as EventType,
    at: row.at as number,
    data: dataOf(row),
  }
}

function dataOf(row: Row): StoredEvent['data'] {
  const details = row.details === null ? undefined : JSON.parse(row.details as string)
  if (row.execution_id !== null) {
    return {
      jobExecutionId: row.execution_id,
      runId: row.run_id,
      jobName: row.job_name,
      deviceId: row.device_id,
      from: row.from_state,
      execState: stateOf(row),
      attempt: row.attempt,
      versionNumber: row.version_number,
      cause: row.cause,
      actor: row.actor,
      statusDetails: details ?? {},
    } as StoredEvent['data']
  }
  if (row.run_id !== null) {
    const { run_id: runId, job_name: jobName, total, retry_of: retryOf } = row
    const counts = row.type === 'run.finished' ? { counts: countsOf(row) } : {}
    return { runId, jobName, total, retryOf, ...counts } as StoredEvent['data']
  }
  return { deviceId: row.device_id as string, ...details }
}

/** The type says to which state it came; progress leaves it as it was. */
export function stateOf({ type, from_state }: Row): ExecState {
  return type === 'execution.progress'
    ? (from_state as ExecState)
    : ((type as string).slice('execution.'.length).toUpperCase() as ExecState)
}
