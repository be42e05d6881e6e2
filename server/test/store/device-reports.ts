// Reports of devices in tests of a store, and their outcomes.

import assert from 'node:assert/strict'
import type { ReportedStatus } from '@jobcast/contract'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type {
  DeviceExecution,
  DeviceReport,
  ReportOutcome,
} from '../../src/domain/execution/device-report.ts'
import { momentAt, startedAt } from './store-under-test.ts'

type StartNext = Extract<DeviceReport, { kind: 'start-next' }>
export type Update = Extract<DeviceReport, { kind: 'update' }>
type Output = Extract<DeviceReport, { kind: 'output' }>
type Done = Extract<ReportOutcome, { kind: 'done' }>

export function startNext(device: DeviceKey, more?: Partial<StartNext>): StartNext {
  const moment = momentAt(startedAt)
  return { kind: 'start-next', device, moment, statusDetails: undefined, stepTimeout: undefined, ...more }
}

export function update(
  device: DeviceKey,
  jobExecutionId: number,
  status: ReportedStatus,
  more?: Partial<Update>,
): Update {
  return {
    kind: 'update',
    device,
    moment: momentAt(startedAt),
    jobExecutionId,
    status,
    statusDetails: undefined,
    result: undefined,
    expectedVersion: undefined,
    attempt: undefined,
    stepTimeout: undefined,
    clientToken: undefined,
    quotas: noQuotas,
    ...more,
  }
}

export function output(
  device: DeviceKey,
  jobExecutionId: number,
  offset: number,
  data: string | Uint8Array,
  more?: Partial<Output>,
): Output {
  return {
    kind: 'output',
    device,
    moment: momentAt(startedAt),
    jobExecutionId,
    attempt: undefined,
    offset,
    data: typeof data === 'string' ? Buffer.from(data) : data,
    maxBytes: 1000,
    maxPieces: 0,
    ...more,
  }
}

export async function report(store: Store, report: DeviceReport): Promise<ReportOutcome> {
  const [outcome] = await store.recordReports([report])
  assert.ok(outcome)
  return outcome
}

/** A report that counts; what it is answered is what can be read afterwards. */
export async function reportDone(store: Store, sent: DeviceReport): Promise<Done> {
  const outcome = await report(store, sent)
  assert.ok(outcome.kind === 'done', `not done but ${JSON.stringify(outcome)}`)
  const { jobExecutionId } = outcome.execution
  assert.deepEqual(await store.getDeviceExecution({ ...sent.device, jobExecutionId }), outcome.execution)
  return outcome
}

/** It is held back: as if there were no such execution, whatever its device says of it by its id. */
export async function assertUnknown(store: Store, device: DeviceKey, jobExecutionId: number): Promise<void> {
  assert.equal(await store.getDeviceExecution({ ...device, jobExecutionId }), undefined)
  for (const status of ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELED'] as const) {
    const brief = await report(store, update(device, jobExecutionId, status))
    assert.deepEqual(brief, { kind: 'unknown-execution' }, status)
    const full = await report(store, update(device, jobExecutionId, status, { clientToken: 'x', attempt: 1 }))
    assert.deepEqual(full, { kind: 'unknown-execution' }, status)
  }
  assert.deepEqual(await report(store, output(device, jobExecutionId, 0, 'x')), { kind: 'unknown-execution' })
}

/** What start-next gives; undefined: nothing is pending. */
export async function startedBy(
  store: Store,
  device: DeviceKey,
  more?: Partial<StartNext>,
): Promise<DeviceExecution | undefined> {
  const outcome = await report(store, startNext(device, more))
  if (outcome.kind === 'nothing-pending') return undefined
  assert.ok(outcome.kind === 'done')
  return outcome.execution
}
