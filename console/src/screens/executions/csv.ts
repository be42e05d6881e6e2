import type { Execution } from '@jobcast/client'

const fields = [
  'jobExecutionId',
  'runId',
  'jobName',
  'deviceId',
  'deviceName',
  'execState',
  'attempt',
  'launchedAt',
  'startedAt',
  'finishedAt',
  'statusDetails',
  'result',
] as const satisfies (keyof Execution)[]

export const csvHead = `${fields.join(',')}\r\n`

export function csvLine(execution: Execution): string {
  return `${fields.map((field) => cellOf(execution[field])).join(',')}\r\n`
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A spreadsheet must not take a device's text for a formula.
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
