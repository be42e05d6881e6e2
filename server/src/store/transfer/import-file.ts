// Reads the file of an export into an empty database: all of it, or nothing.

import { statSync } from 'node:fs'
import { type ExportEnd, type ExportHead, exportFormat, oldestFormat, type TableHead } from './export-file.ts'
import { readLines } from './read-lines.ts'
import { type TransferTable, transferTables } from './tables.ts'
import {
  type Counts,
  type OnTransferProgress,
  TransferRefused,
  type TransferTarget,
  type Value,
} from './transfer.ts'

const rowsAtOnce = 1000

/** Returns the counts, which are equal in the file and the database. */
export async function readExport(
  file: string,
  target: TransferTarget,
  onProgress?: OnTransferProgress,
): Promise<Counts> {
  const lines = new Lines(file, onProgress)
  try {
    return await readAll(file, lines, target)
  } finally {
    await lines.close()
  }
}

async function readAll(file: string, lines: Lines, target: TransferTarget): Promise<Counts> {
  const head = await lines.next()
  checkHead(head, file)
  await target.begin(head.last)
  const counts: Counts = {}
  let at = 0
  for (;;) {
    const line = await lines.next()
    if (isEnd(line)) {
      checkCounts(line.counts, counts)
      if ((await lines.next()) !== undefined) throw damaged(file, 'has data after its end')
      await target.commit()
      return counts
    }
    if (!isTableHead(line)) throw damaged(file, 'has a line that is not a row of a table')
    const found = transferTables.findIndex(({ name }, index) => index >= at && name === line.table)
    const table = transferTables[found]
    if (table === undefined) throw unknown(file, `the table "${line.table}"`)
    at = found + 1
    checkColumns(table, line.columns, file)
    counts[table.name] = await target.write(table, line.columns, lines.rows(line.columns.length))
  }
}

/** Reads ahead one line: a row belongs to the current table, any other line ends the table. */
class Lines {
  readonly #file: string
  readonly #batches: AsyncIterator<string[]>
  #batch: string[] = []
  #at = 0

  constructor(file: string, onProgress?: OnTransferProgress) {
    this.#file = file
    const size = onProgress ? statSync(file).size : 0
    this.#batches = readLines(file, (bytes) => onProgress?.(bytes, size))[Symbol.asyncIterator]()
  }

  /** Undefined at the end of the file. */
  async next(): Promise<unknown> {
    const line = await this.#peek()
    this.#at++
    return line === undefined ? undefined : parse(line, this.#file)
  }

  async *rows(width: number): AsyncGenerator<Value[][]> {
    let rows: Value[][] = []
    for (let line = await this.#peek(); line?.startsWith('['); line = this.#have() ?? (await this.#peek())) {
      const row = parse(line, this.#file)
      if (!Array.isArray(row) || row.length !== width)
        throw damaged(this.#file, 'has a row of another length')
      this.#at++
      rows.push(row as Value[])
      if (rows.length < rowsAtOnce) continue
      yield rows
      rows = []
    }
    if (rows.length > 0) yield rows
  }

  async close(): Promise<void> {
    await this.#batches.return?.()
  }

  #have(): string | undefined {
    return this.#batch[this.#at]
  }

  async #peek(): Promise<string | undefined> {
    while (this.#at >= this.#batch.length) {
      const { value, done } = await this.#batches.next()
      if (done) return undefined
      this.#batch = value
      this.#at = 0
    }
    return this.#batch[this.#at]
  }
}

function parse(line: string, file: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw damaged(file, 'has a line that is not JSON')
  }
}

function checkHead(head: unknown, file: string): asserts head is ExportHead {
  const { jobcast, format } = (head ?? {}) as Partial<ExportHead>
  if (jobcast !== 'export' || typeof format !== 'number') {
    throw new TransferRefused(`${file} is not an export of Jobcast.`)
  }
  if (format > exportFormat) {
    throw new TransferRefused(
      `${file} has format ${format}, this program supports formats up to ${exportFormat}. ` +
        'It was written by a newer Jobcast: import it with that version.',
    )
  }
  if (format < oldestFormat) {
    throw new TransferRefused(
      `${file} was written by an unreleased version of Jobcast and cannot be imported: import it with that version.`,
    )
  }
}

function checkColumns(table: TransferTable, columns: unknown, file: string): asserts columns is string[] {
  if (!Array.isArray(columns)) throw damaged(file, `does not say what the columns of ${table.name} are`)
  for (const column of columns) {
    if (!Object.hasOwn(table.columns, column)) throw unknown(file, `the column "${column}" of ${table.name}`)
  }
}

function checkCounts(said: Counts, imported: Counts): void {
  for (const { name } of transferTables) {
    const [file, database] = [said[name] ?? 0, imported[name] ?? 0]
    if (file === database) continue
    throw new TransferRefused(
      `The file says that ${name} has ${file} rows, and ${database} were imported: nothing was imported. Export it again.`,
    )
  }
}

function isEnd(line: unknown): line is ExportEnd {
  return (line as Partial<ExportEnd> | undefined)?.end === true
}

function isTableHead(line: unknown): line is TableHead {
  return typeof (line as Partial<TableHead> | undefined)?.table === 'string'
}

function damaged(file: string, how: string): TransferRefused {
  return new TransferRefused(`${file} ${how}: it is damaged or truncated. Export it again.`)
}

function unknown(file: string, what: string): TransferRefused {
  return new TransferRefused(
    `${file} has ${what}, which this program does not support. It was written by a newer Jobcast: import it with that version.`,
  )
}
