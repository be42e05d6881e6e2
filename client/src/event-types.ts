// Written by `npm run generate` from the map of events; do not edit.

import type {
  AuditEventData,
  DeviceEventData,
  EnrollmentEventData,
  ExecutionEventData,
  FileEventData,
  FleetEventData,
  GroupEventData,
  JobEventData,
  KeyEventData,
  OwnerEventData,
  RunEventData,
  ScheduleEventData,
  SecretEventData,
  SessionEventData,
  WebhookEventData,
  WindowEventData,
} from './schemas.ts'

export const eventTypes = [
  'run.created',
  'run.finished',
  'run.released',
  'run.changed',
  'run.paused',
  'run.resumed',
  'run.awaiting_approval',
  'run.approved',
  'run.denied',
  'run.aborted',
  'execution.in_progress',
  'execution.progress',
  'execution.succeeded',
  'execution.failed',
  'execution.rejected',
  'execution.timed_out',
  'execution.expired',
  'execution.canceling',
  'execution.canceled',
  'execution.pending',
  'device.created',
  'device.updated',
  'device.deleted',
  'device.online',
  'device.offline',
  'device.credential_set',
  'device.credential_revoked',
  'device.certificate_allowed',
  'fleet.frozen',
  'fleet.unfrozen',
  'job.changed',
  'job.deleted',
  'group.changed',
  'group.deleted',
  'window.changed',
  'window.deleted',
  'secret.changed',
  'secret.deleted',
  'file.created',
  'file.deleted',
  'schedule.changed',
  'schedule.deleted',
  'schedule.fired',
  'schedule.missed',
  'schedule.paused',
  'schedule.resumed',
  'key.created',
  'key.revoked',
  'enrollment.created',
  'enrollment.revoked',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'session.signed_in',
  'session.signed_out',
  'audit.sealed',
  'owner.created',
] as const

/** Valid filters: all types of a noun, or one type. */
export const eventPatterns = [
  'run.*',
  'execution.*',
  'device.*',
  'fleet.*',
  'job.*',
  'group.*',
  'window.*',
  'secret.*',
  'file.*',
  'schedule.*',
  'key.*',
  'enrollment.*',
  'webhook.*',
  'session.*',
  'audit.*',
  'owner.*',
  ...eventTypes,
] as const

/** The data of events by noun. */
export type EventDataByNoun = {
  run: RunEventData
  execution: ExecutionEventData
  device: DeviceEventData
  fleet: FleetEventData
  job: JobEventData
  group: GroupEventData
  window: WindowEventData
  secret: SecretEventData
  file: FileEventData
  schedule: ScheduleEventData
  key: KeyEventData
  enrollment: EnrollmentEventData
  webhook: WebhookEventData
  session: SessionEventData
  audit: AuditEventData
  owner: OwnerEventData
}
