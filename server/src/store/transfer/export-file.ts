// The file of an export: lines of JSON, compressed with gzip. The first line is a header, then each table has a line with its
// name and columns and one line per row, and the last line has the counts: a file without it is incomplete.

import { once } from 'node:events'
import { createWriteStream, fsyncSync, openSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { transferTables } from './tables.ts'
import type { Counts, LastNumbers, OnTransferProgress, TransferSource } from './transfer.ts'

/** Incremented when the current program could not read the new format. Format 1 was never released. */
export const exportFormat = 2
export const oldestFormat = 2

export type ExportHead = { jobcast: 'export'; format: number; version: string; last: LastNumbers }
export type TableHead = { table: string; columns: string[] }
export type ExportEnd = { end: true; counts: Counts }

// Takes a third of the time of the default level, for a tenth more bytes.
const level = 3
const bytesAtOnce = 256 * 1024

/** Writes to a new file that only its owner can read. */
export async function writeExport(
  source: TransferSource,
  file: string,
  version: string,
  onProgress?: OnTransferProgress,
): Promise<Counts> {
  const opened = openSync(file, 'wx', 0o600)
  const gzip = createGzip({ level })
  const target = createWriteStream(file, { fd: opened, autoClose: false })
  // Errors such as a full disk are thrown by the next write.
  const done = finished(gzip.pipe(target))
  done.catch((error) => gzip.destroy(error))
  let text = ''
  const write = async (line: string) => {
    text += `${line}\n`
    if (text.length < bytesAtOnce) return
    const isRoom = gzip.write(text)
    text = ''
    if (!isRoom) await Promise.race([once(gzip, 'drain'), done])
  }

  const head: ExportHead = { jobcast: 'export', format: exportFormat, version, last: source.lastNumbers }
  await write(JSON.stringify(head))
  const counts: Counts = {}
  // Counting reads all rows, so it is only done to report progress.
  const total = onProgress ? await countAll(source) : 0
  let rows = 0
  for (const table of transferTables) {
    const { name } = table
    await write(JSON.stringify({ table: name, columns: Object.keys(table.columns) } satisfies TableHead))
    counts[name] = 0
    for await (const lines of source.readLines(table)) {
      counts[name] += lines.length
      for (const line of lines) await write(line)
      rows += lines.length
      onProgress?.(rows, total, name)
    }
  }
  await write(JSON.stringify({ end: true, counts } satisfies ExportEnd))
  gzip.end(text)
  await done
  fsyncSync(opened)
  target.close()
  return counts
}

async function countAll(source: TransferSource): Promise<number> {
  let rows = 0
  for (const table of transferTables) rows += await source.countRows(table)
  return rows
}
