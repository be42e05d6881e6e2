// The event log as writers use it: what a transaction changes becomes events of its commit (see transaction.ts).

import type { AccessEventType, DeviceEventType } from '@jobcast/contract/words'
import type { ExecutionChange } from '../../domain/execution-move.ts'
import type { AccessChange, DeviceChange } from '../queries.ts'
import type { Transaction } from './transaction.ts'

type RunChange = { ownerNo: number; runId: number; at: number }

export function runCreated({ events }: Transaction, { ownerNo, runId, at }: RunChange): void {
  events.push({ type: 'run.created', owner_no: ownerNo, at, run_id: runId })
}

export function executionChanged({ events }: Transaction, change: ExecutionChange): void {
  events.push({
    type: change.type,
    owner_no: change.ownerNo,
    at: change.at,
    run_id: change.runId,
    execution_id: change.jobExecutionId,
    device_no: change.deviceNo,
    from_state: change.from,
    cause: change.cause,
    actor: change.actor,
    attempt: change.attempt,
    version_number: change.versionNumber,
    details: change.details,
  })
}

export function deviceChanged({ events }: Transaction, type: DeviceEventType, change: DeviceChange): void {
  const { ownerNo, deviceNo, at, details } = change
  events.push({
    type,
    owner_no: ownerNo,
    at,
    device_no: deviceNo,
    details: details === undefined ? null : JSON.stringify(details),
  })
}

export function accessChanged(
  { events }: Transaction,
  type: AccessEventType,
  { ownerNo, at, data }: AccessChange,
): void {
  events.push({ type, owner_no: ownerNo, at, details: JSON.stringify(data) })
}
