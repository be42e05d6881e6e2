// Attributes as owners set them and as devices report them.

import { ApiError, attributeProblem, type DeviceContent, isTimeZone, maxAttributes } from '@jobcast/contract'
import { DeviceError } from '../execution/device-error.ts'
import type { Moment } from '../execution/execution.ts'
import { unknownDevice } from '../execution/report-execution.ts'
import type { DeviceKey } from './device-key.ts'
import type { AttributeOutcome, AttributeReport, Attributes } from './ports/devices.ts'

export type AttributeDeps = {
  /** Resolves once the report is on disk. */
  recordAttributes: (report: AttributeReport) => Promise<AttributeOutcome>
  moment: () => Moment
}

/** The owner's time zone is an attribute, too, so that selectors see it. Throws J-500. */
export function ownAttributes({ attributes = {}, timeZone }: DeviceContent): Attributes {
  requireAttributeChanges(attributes)
  if (timeZone === undefined || timeZone === null) return attributes
  if (!isTimeZone(timeZone)) {
    throw invalid('timeZone', 'timeZone must be the name of an IANA time zone such as Europe/Berlin.')
  }
  return { ...attributes, timeZone }
}

/** Null removes an attribute. Throws J-500. */
export function requireAttributeChanges(attributes: AttributeReport['changes']): void {
  for (const [name, value] of Object.entries(attributes)) {
    const problem =
      name === 'timeZone' ? 'is a separate field, not an attribute' : attributeProblem(name, value ?? '')
    if (problem) throw invalid('attributes', `attributes: ${shownName(name)} ${problem}.`)
  }
}

function invalid(field: string, detail: string): ApiError {
  return new ApiError('J-500', { field, detail })
}

/** Merges the report with earlier ones; null removes an attribute. Throws DeviceError. */
export async function reportAttributes(
  deps: AttributeDeps,
  device: DeviceKey,
  fields: Record<string, unknown>,
): Promise<AttributeReport['changes']> {
  const { ownerNo, deviceId } = device
  const changes = parseReported(fields)
  const { at, clock } = deps.moment()
  const report = { device: { ownerNo, deviceId }, changes, at, clock }
  const outcome = await deps.recordAttributes(report)
  if (outcome.kind === 'unknown-device') throw unknownDevice()
  if (outcome.kind === 'too-many') throw refused(`A device has at most ${maxAttributes} reported attributes.`)
  return changes
}

function parseReported(fields: Record<string, unknown>): AttributeReport['changes'] {
  const entries = Object.entries(fields)
  if (entries.length > maxAttributes)
    throw refused(`At most ${maxAttributes} attributes are reported at once.`)
  for (const [name, value] of entries) {
    const problem = attributeProblem(name, value === null ? '' : value)
    if (problem) throw refused(`${shownName(name)} ${problem}, or null.`)
  }
  return Object.fromEntries(entries) as AttributeReport['changes']
}

/** The `reported` part of a shadow document, or a flat map. */
export function reportedOf(fields: Record<string, unknown>): Record<string, unknown> {
  const { state } = fields
  if (!isObject(state)) return fields
  if (!isObject(state.reported)) throw refused('state.reported must be an object of attributes.')
  return state.reported
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refused(message: string): DeviceError {
  return new DeviceError('InvalidRequest', message)
}

/** The name is untrusted text. */
function shownName(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}
