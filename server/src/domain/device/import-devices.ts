// Puts many devices, one per line, or previews the changes. Invalid lines do not stop the others; the result lists them.

import { ApiError, type ImportQuery, type ImportResult } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { StorageUnavailable, TooMuchWaiting } from '../common/ports/storage-errors.ts'
import { type DeviceDeps, putDevice, settled } from './device.ts'
import { type ImportedDevice, type ImportOutcome, ImportPreview } from './import-preview.ts'
import { patchDevice } from './patch-device.ts'

/** `read` throws ApiError for an invalid line. */
export type ImportLine = { line: number; read: () => ImportedDevice }

export const maxImported = 100_000
const maxNamedFailures = 10_000

export async function importDevices(
  deps: DeviceDeps,
  caller: Caller,
  batches: AsyncIterable<ImportLine[]>,
  { dryRun, merge }: ImportQuery,
): Promise<ImportResult> {
  await settled(deps.presence)
  const preview = dryRun ? new ImportPreview(deps, caller, merge) : undefined
  const result: ImportResult = { created: 0, updated: 0, unchanged: 0, failed: [], failedTotal: 0 }
  const store = merge ? mergeDevice : replaceDevice
  const take = (device: ImportedDevice) => preview?.take(device) ?? store(deps, caller, device)
  const count = (batch: ImportLine[], outcomes: (ImportOutcome | ApiError)[]) => {
    for (const [index, outcome] of outcomes.entries()) {
      if (!(outcome instanceof ApiError)) {
        result[outcome]++
        continue
      }
      result.failedTotal++
      if (result.failed.length === maxNamedFailures) continue
      const { code, message, details } = outcome
      const text = details.detail ? `${message}: ${details.detail}` : message
      result.failed.push({ line: batch[index]?.line ?? 0, code, message: text })
    }
  }
  // Each batch is read while the one before it is written.
  let counted = Promise.resolve()
  try {
    for await (const batch of batches) {
      const before = counted
      const outcomes = batch.map((line) => importLine(line, take))
      counted = Promise.all([before, ...outcomes]).then(([, ...all]) => count(batch, all))
      await before
    }
  } finally {
    await counted
  }
  return preview ? { ...result, overwritten: preview.overwritten() } : result
}

async function importLine(
  { read }: ImportLine,
  take: (device: ImportedDevice) => Promise<ImportOutcome>,
): Promise<ImportOutcome | ApiError> {
  try {
    return await take(read())
  } catch (error) {
    if (error instanceof ApiError) return error
    if (error instanceof TooMuchWaiting) return new ApiError('J-908')
    if (error instanceof StorageUnavailable) return new ApiError('J-909')
    throw error
  }
}

async function replaceDevice(
  deps: DeviceDeps,
  caller: Caller,
  { deviceId, ...content }: ImportedDevice,
): Promise<ImportOutcome> {
  const { created, isSame } = await putDevice(deps, caller, deviceId, content)
  return created ? 'created' : isSame ? 'unchanged' : 'updated'
}

/** A device that is created concurrently is merged like any existing one. */
async function mergeDevice(
  deps: DeviceDeps,
  caller: Caller,
  { deviceId, ...content }: ImportedDevice,
): Promise<ImportOutcome> {
  const before = await deps.store.getDevice({ ownerNo: caller.ownerNo, deviceId })
  try {
    if (before === undefined) {
      await putDevice(deps, caller, deviceId, content, { expected: 'nothing' })
      return 'created'
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'J-312')) throw error
  }
  return (await patchDevice(deps, caller, deviceId, content)).isSame ? 'unchanged' : 'updated'
}
