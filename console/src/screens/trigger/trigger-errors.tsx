// Assigns errors of the API to fields.

import { isJobcastError, type JobcastError } from '@jobcast/client'
import { refusedParameter } from '../../parameters/parameters-draft.ts'
import { refusedField } from '../../rollout/rollout-draft.ts'
import { refusedWhenField } from './when-draft.ts'

/** J-301 belongs to the job; J-001 and errors in the list belong to the devices. */
export function jobErrorOf(error: unknown): string | undefined {
  return isJobcastError(error, 'J-301') ? `${error.message} (${error.code})` : undefined
}

/** Whether the error is shown at the job, the rollout, a parameter or the time. */
export function isShownAtField(error: unknown): boolean {
  return (
    (jobErrorOf(error) ?? refusedField(error) ?? refusedParameter(error) ?? refusedWhenField(error)) !==
    undefined
  )
}

export function isDevicesError(error: unknown): error is JobcastError {
  return (
    isJobcastError(error, 'J-001') ||
    (isJobcastError(error, 'J-500') && /^(targets\.)?deviceIds/.test(error.field ?? '')) ||
    isJobcastError(error, 'J-904')
  )
}

export function DevicesError({
  error,
  onRemoveUnknown,
}: {
  error: unknown
  onRemoveUnknown: (deviceIds: Iterable<string>) => void
}) {
  if (!isDevicesError(error)) return null
  const { deviceIds = [] } = error
  return (
    <div class="devices-error" role="alert">
      <p class="field-error">
        {error.message} <code>{error.code}</code>
        {deviceIds.length > 0 ? `: ${deviceIds.join(', ')}` : error.detail && `: ${error.detail}`}
      </p>
      {deviceIds.length === 0 && <p>With more devices than one call may list, use a selector.</p>}
      {deviceIds.length > 0 && (
        <button type="button" onClick={() => onRemoveUnknown(deviceIds)}>
          Remove {deviceIds.length === 1 ? 'it' : 'them'}
        </button>
      )}
    </div>
  )
}
