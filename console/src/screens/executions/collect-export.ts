// Exports executions as a file, page by page and never as a single string.

import type { Execution, ListExecutionsQuery, Query } from '@jobcast/client'
import { jobcast } from '../../api/client.ts'
import { csvHead, csvLine } from './csv.ts'

export type ExportKind = 'CSV' | 'JSON'
const types: Record<ExportKind, string> = { CSV: 'text/csv', JSON: 'application/json' }

/** Undefined if it was stopped. Each page is a separate part, so that the browser can store it outside of memory. */
export async function collect(
  kind: ExportKind,
  query: Query<ListExecutionsQuery>,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<Blob | undefined> {
  const parts = [new Blob([kind === 'CSV' ? csvHead : '['])]
  let count = 0
  let cursor: string | undefined
  try {
    do {
      const page = await jobcast.executions.list({ ...query, limit: 200, cursor }, { signal }).page()
      parts.push(new Blob([kind === 'CSV' ? page.items.map(csvLine).join('') : jsonLines(page.items, count)]))
      count += page.items.length
      onRead(count)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
  if (kind === 'JSON') parts.push(new Blob(['\n]\n']))
  return new Blob(parts, { type: types[kind] })
}

function jsonLines(items: Execution[], before: number): string {
  return items.map((item, index) => `${before + index === 0 ? '' : ','}\n${JSON.stringify(item)}`).join('')
}

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000) // the download has begun by then
}
