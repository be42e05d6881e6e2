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
] as const
export type DeviceEventType = (typeof deviceTypes)[number]
export type ExecutionEventType = `execution.${Lowercase<ExecState>}` | 'execution.progress'
export type RunEventType = 'run.created' | 'run.finished'
export type EventType = RunEventType | ExecutionEventType | DeviceEventType

export const eventTypes: readonly EventType[] = [
  'run.created',
  'run.finished',
  ...executionTypes,
  'execution.progress',
  ...deviceTypes,
]

/** What a filter may name: a type, or all types of a kind. */
export const eventPatterns: readonly string[] = [...eventTypes, 'run.*', 'execution.*', 'device.*']

export function executionEventType(state: ExecState): `execution.${Lowercase<ExecState>}` {
  return `execution.${state.toLowerCase() as Lowercase<ExecState>}`
}

/** Whether the type matches the filter; an empty filter matches every type. */
export function matchesPatterns(type: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.includes(type) || patterns.includes(`${type.split('.')[0]}.*`)
}
