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
  const harmless = text.replace(formulaStart, "'")
  return harmless !== text || /[",;\t\r\n]/.test(text) ? `"${harmless.replaceAll('"', '""')}"` : text
}

/**
 * Positions where a spreadsheet could interpret text from a device as a formula: at its start, and after semicolons or tabs if the
 * spreadsheet uses these as separators. In that case our quotes do not begin a cell, and do not protect.
 */
const formulaStart = /(?=[=+\-@\t\r＝＋－＠])(?<=(?:^|[;\t\r\n])[ "']*)/g
