// Imports devices in calls of a size that the service accepts, and adds up the results.

import type { Query } from './list.ts'
import type { ImportDevicesQuery, ImportedDevice, ImportResult } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

const linesPerCall = 10_000
const maxCallBytes = 16 * 1024 * 1024

type Many<T> = Iterable<T> | AsyncIterable<T>
/** `dryRun`: only preview the changes. `merge`: set only the fields of a line. */
export type ImportOptions = CallOptions & Query<ImportDevicesQuery>

/** Each item is a device, or a line of NDJSON. */
export async function importDevices(
  transport: Transport,
  devices: Many<ImportedDevice | string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const sender = new LineSender(transport, 'application/x-ndjson', options)
  for await (const device of devices) {
    sender.add(typeof device === 'string' ? device : JSON.stringify(device))
    if (sender.isFull) await sender.send()
  }
  await sender.send()
  return sender.result
}

/** Lines of CSV, the first of which is the header. A value with a line break, in double quotes, takes several lines. */
export async function importCsv(
  transport: Transport,
  lines: Many<ImportedDevice | string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const sender = new LineSender(transport, 'text/csv', options)
  let isInQuotes = false
  for await (const line of lines) {
    if (typeof line !== 'string') throw new TypeError('CSV is imported from lines of text')
    if (quotesIn(line) % 2 === 1) isInQuotes = !isInQuotes
    if (sender.header === undefined) sender.header = line
    else sender.add(line)
    // A record is not split, unless a quote is never closed.
    if (sender.isFull && (!isInQuotes || sender.isOverfull)) await sender.send()
  }
  await sender.send()
  return sender.result
}

function quotesIn(line: string): number {
  let count = 0
  for (let at = line.indexOf('"'); at >= 0; at = line.indexOf('"', at + 1)) count++
  return count
}

class LineSender {
  readonly result: ImportResult = { created: 0, updated: 0, unchanged: 0, failed: [], failedTotal: 0 }
  /** Sent at the beginning of every call. */
  header: string | undefined
  readonly #transport: Transport
  readonly #type: string
  readonly #options: ImportOptions
  #lines: string[] = []
  #bytes = 0
  #sentLines = 0
  #isSent = false

  constructor(transport: Transport, type: string, options: ImportOptions) {
    this.#transport = transport
    this.#type = type
    this.#options = options
  }

  get isFull(): boolean {
    return this.#lines.length >= linesPerCall || this.#bytes > maxCallBytes
  }

  get isOverfull(): boolean {
    return this.#lines.length >= 2 * linesPerCall || this.#bytes > 2 * maxCallBytes
  }

  add(line: string): void {
    this.#lines.push(line)
    this.#bytes += line.length * 3
  }

  /** A header without lines is sent once, so that it is checked. */
  async send(): Promise<void> {
    if (this.#lines.length === 0 && (this.header === undefined || this.#isSent)) return
    const { dryRun, merge, signal } = this.#options
    const answer = await this.#transport.value<ImportResult>({
      method: 'POST',
      path: '/job/api/devices/import',
      query: { ...(dryRun && { dryRun }), ...(merge && { merge }) },
      text: [...(this.header === undefined ? [] : [this.header]), ...this.#lines].join('\n'),
      headers: { 'content-type': this.#type },
      safe: true,
      signal,
    })
    add(this.result, answer, this.#sentLines)
    this.#isSent = true
    this.#sentLines += this.#lines.length
    this.#lines = []
    this.#bytes = 0
  }
}

function add(result: ImportResult, answer: ImportResult, linesBefore: number): void {
  result.created += answer.created
  result.updated += answer.updated
  result.unchanged += answer.unchanged
  result.failedTotal += answer.failedTotal
  if (answer.overwritten) result.overwritten = sum(result.overwritten ?? [], answer.overwritten)
  for (const failure of answer.failed) result.failed.push({ ...failure, line: failure.line + linesBefore })
}

type Overwritten = NonNullable<ImportResult['overwritten']>

function sum(before: Overwritten, more: Overwritten): Overwritten {
  const fields = new Map(before.map((entry) => [entry.field, entry]))
  for (const entry of more) {
    const { devices = 0, example = entry.example } = fields.get(entry.field) ?? {}
    fields.set(entry.field, { ...entry, devices: devices + entry.devices, example })
  }
  return [...fields.values()].sort((one, other) => other.devices - one.devices)
}
