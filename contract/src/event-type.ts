// Event types.

import { type ExecState, execStates } from './exec-state.ts'

const executionTypes = execStates.map((state) => executionEventType(state))
const deviceTypes = [
  'device.created',
  'device.updated',
  'device.deleted',
  'device.online',
  'device.offline',
  'device.credential_set',
  'device.credential_revoked',
  'device.certificate_allowed',
] as const
export type DeviceEventType = (typeof deviceTypes)[number]
export type ExecutionEventType = `execution.${Lowercase<ExecState>}` | 'execution.progress'
const rolloutTypes = [
  'run.released',
  'run.paused',
  'run.resumed',
  'run.awaiting-approval',
  'run.approved',
  'run.denied',
  'run.stopped',
] as const
export type RolloutEventType = (typeof rolloutTypes)[number]
export type RunEventType = 'run.created' | 'run.finished' | RolloutEventType
const fleetTypes = ['fleet.frozen', 'fleet.unfrozen'] as const
export type FleetEventType = (typeof fleetTypes)[number]
const scheduleTypes = ['schedule.fired', 'schedule.missed', 'schedule.paused'] as const
export type ScheduleEventType = (typeof scheduleTypes)[number]
const keyTypes = ['key.created', 'key.revoked'] as const
const enrollmentTypes = ['enrollment.created', 'enrollment.revoked'] as const
const webhookTypes = ['webhook.created', 'webhook.updated', 'webhook.deleted'] as const
const sessionTypes = ['session.signed_in', 'session.signed_out'] as const
export type KeyEventType = (typeof keyTypes)[number]
export type EnrollmentEventType = (typeof enrollmentTypes)[number]
export type WebhookEventType = (typeof webhookTypes)[number]
export type SessionEventType = (typeof sessionTypes)[number]
export type OwnerEventType = 'owner.created'
export type AccessEventType =
  | KeyEventType
  | EnrollmentEventType
  | WebhookEventType
  | SessionEventType
  | OwnerEventType
export type EventType =
  | RunEventType
  | ExecutionEventType
  | DeviceEventType
  | FleetEventType
  | ScheduleEventType
  | AccessEventType

const accessTypes: readonly AccessEventType[] = [
  ...keyTypes,
  ...enrollmentTypes,
  ...webhookTypes,
  ...sessionTypes,
  'owner.created',
]
/** Kinds of events about who has access. A filter without types leaves them out for webhooks and for keys with READ only. */
export const accessKinds = ['key', 'enrollment', 'webhook', 'session', 'owner'] as const
export type AccessKind = (typeof accessKinds)[number]

export const eventTypes: readonly EventType[] = [
  'run.created',
  'run.finished',
  ...rolloutTypes,
  ...executionTypes,
  'execution.progress',
  ...deviceTypes,
  ...fleetTypes,
  ...scheduleTypes,
  ...accessTypes,
]

/** What a filter may name: a type, or all types of a kind. */
export const eventPatterns: readonly string[] = [
  ...eventTypes,
  'run.*',
  'execution.*',
  'device.*',
  'fleet.*',
  'schedule.*',
  ...accessKinds.map((kind) => `${kind}.*`),
]

export function executionEventType(state: ExecState): `execution.${Lowercase<ExecState>}` {
  return `execution.${state.toLowerCase() as Lowercase<ExecState>}`
}

/** Whether the type matches the filter; an empty filter matches every type. */
export function matchesPatterns(type: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.includes(type) || patterns.includes(`${kindOf(type)}.*`)
}

/** Of a type or a pattern: `run` of `run.created` and of `run.*`. */
export function kindOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
