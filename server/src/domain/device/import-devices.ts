// Puts many devices, one a line. A line that is refused does not stop the others, and the answer names it.

import { ApiError, type DeviceContent, type ImportResult } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { StorageUnavailable, TooMuchWaiting } from '../common/ports/storage-errors.ts'
import { type DeviceDeps, putDevice } from './device.ts'

/** `keepsWindow`: of a format that has no windows. */
export type ImportedDevice = { deviceId: string; keepsWindow?: true } & DeviceContent
/** `read` throws ApiError for a line that is no device. */
export type ImportLine = { line: number; read: () => ImportedDevice }

export const maxImported = 100_000
const maxNamedFailures = 10_000

export async function importDevices(
  deps: DeviceDeps,
  caller: Caller,
  batches: AsyncIterable<ImportLine[]>,
): Promise<ImportResult> {
  const result: ImportResult = { created: 0, updated: 0, unchanged: 0, failed: [], failedTotal: 0 }
  for await (const batch of batches) {
    const outcomes = await Promise.all(batch.map((line) => importLine(deps, caller, line)))
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
  return result
}

async function importLine(
  deps: DeviceDeps,
  caller: Caller,
  { read }: ImportLine,
): Promise<'created' | 'updated' | 'unchanged' | ApiError> {
  try {
    const { deviceId, ...content } = read()
    const { created, isSame } = await putDevice(deps, caller, deviceId, content)
    return created ? 'created' : isSame ? 'unchanged' : 'updated'
  } catch (error) {
    if (error instanceof ApiError) return error
    if (error instanceof TooMuchWaiting) return new ApiError('J-908')
    if (error instanceof StorageUnavailable) return new ApiError('J-909')
    throw error
  }
}
