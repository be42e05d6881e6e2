export type { Audit } from './audit.ts'
export type { Devices } from './devices.ts'
export type { Enrollments } from './enrollments.ts'
export { type ErrorCode, errorCodes } from './error-codes.ts'
export * from './errors.ts'
export type * from './event.ts'
export { eventPatterns, eventTypes } from './event-types.ts'
export { isEnd } from './exec-state.ts'
export type { CancelOptions, Executions, GetOptions, OutputOptions } from './executions.ts'
export type { FileContentOptions, Files, PutFileOptions } from './files.ts'
export type { Fleet as FleetCalls } from './fleet.ts'
export type { EventsOptions } from './follow-events.ts'
export type { Groups } from './groups.ts'
export type { Health } from './health.ts'
export { Jobcast } from './jobcast.ts'
export type { Jobs } from './jobs.ts'
export type { Keys } from './keys.ts'
export type { List, Page, PageQuery, Query } from './list.ts'
export type { Owners } from './owners.ts'
export type { ExecutionOutput } from './read-output.ts'
export type {
  AllResourceCalls,
  Put,
  PutOptions,
  PutResult,
  ResourceCalls,
  Secrets,
} from './resource-calls.ts'
export { type ResourceName, type ResourceTypes, resources } from './resources.ts'
export type { NewRun, Runs, TriggerOptions } from './runs.ts'
export type { Schedules } from './schedules.ts'
export type * from './schemas.ts'
export type { Session as SessionCalls } from './session.ts'
export type { Sessions } from './sessions.ts'
export type { CallOptions, JobcastOptions } from './transport.ts'
export type { TriggerCall, TriggeredRun } from './trigger-call.ts'
export type { EndedExecution, WaitOptions } from './wait-for-run.ts'
export type { PutWebhook, Webhooks } from './webhooks.ts'
export type { Windows } from './windows.ts'
