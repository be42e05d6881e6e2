// Row counts of an export or import.

import type { Counts } from '@jobcast/server'
import type { Column } from '../output/print-table.ts'

type Count = { kind: string; rows: number }

export function countRows(counts: Counts): Count[] {
  return Object.entries(counts).map(([kind, rows]) => ({ kind, rows }))
}

export const countColumns: Column<Count>[] = [
  { title: 'KIND', of: ({ kind }) => kind.replaceAll('_', ' ') },
  { title: 'ROWS', of: ({ rows }) => rows },
]
