// Row counts of an export or import.

import type { Counts } from '@jobcast/server'
import type { Column } from '../output/print-table.ts'
import type { OnProgress } from '../output/task-bar.ts'

/** Names of tables as people read them. */
export function tableWords(onProgress: OnProgress | undefined): OnProgress | undefined {
  return onProgress && ((done, of, table) => onProgress(done, of, table && wordsOf(table)))
}

function wordsOf(table: string): string {
  return table.replaceAll('_', ' ')
}

type Count = { kind: string; rows: number }

export function countRows(counts: Counts): Count[] {
  return Object.entries(counts).map(([kind, rows]) => ({ kind, rows }))
}

export const countColumns: Column<Count>[] = [
  { title: 'KIND', of: ({ kind }) => wordsOf(kind) },
  { title: 'ROWS', of: ({ rows }) => rows },
]
