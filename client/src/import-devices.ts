// Imports devices in calls of a size that the service takes, and adds up what they answer.

import type { ImportedDevice, ImportResult } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

const linesPerCall = 10_000
const maxCallBytes = 16 * 1024 * 1024

/** A device, or a line of NDJSON as it is. */
export async function importDevices(
  transport: Transport,
  devices: Iterable<ImportedDevice | string> | AsyncIterable<ImportedDevice | string>,
  { signal }: CallOptions = {},
): Promise<ImportResult> {
  const result: ImportResult = { created: 0, updated: 0, unchanged: 0, failed: [], failedTotal: 0 }
  let lines: string[] = []
  let bytes = 0
  let sentLines = 0
  const send = async () => {
    if (lines.length === 0) return
    const answer = await transport.value<ImportResult>({
      method: 'POST',
      path: '/job/api/devices/import',
      text: lines.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
      safe: true,
      signal,
    })
    add(result, answer, sentLines)
    sentLines += lines.length
    lines = []
    bytes = 0
  }
  for await (const device of devices) {
    const line = typeof device === 'string' ? device : JSON.stringify(device)
    lines.push(line)
    bytes += line.length * 3
    if (lines.length === linesPerCall || bytes > maxCallBytes) await send()
  }
  await send()
  return result
}

function add(result: ImportResult, answer: ImportResult, linesBefore: number): void {
  result.created += answer.created
  result.updated += answer.updated
  result.unchanged += answer.unchanged
  result.failedTotal += answer.failedTotal
  for (const failure of answer.failed) result.failed.push({ ...failure, line: failure.line + linesBefore })
}
