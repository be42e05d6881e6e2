// Row counts of an export or import.

import type { Counts } from '@jobcast/server'
import type { Column } from '../output/print-table.ts'
import type { OnProgress } from '../output/task-bar.ts'

/** Tables whose name is not the word that users know. */
const namesForUsers: Readonly<Record<string, string>> = {
  api_key: 'API keys',
  audit_entry: 'audit entries',
  device_group: 'groups',
  device_rename: 'earlier device names',
  device_tag: 'device tags',
  device_window: 'windows of devices',
  fleet_freeze: 'freezes',
  group_sweep: 'sweeps of groups',
  idempotency_key: 'idempotency keys',
  offer_history: 'open times of windows',
  offer_window: 'windows',
  output: 'pieces of output',
  rollout_release: 'releases of rollouts',
  run_parameters: 'parameters of runs',
  run_request: 'requests of runs',
  schedule_device: 'devices of schedules',
  transition: 'state changes',
  webhook_delivery: 'deliveries',
}

/** Replaces table names by the words that users know. */
export function tableWords(onProgress: OnProgress | undefined): OnProgress | undefined {
  return onProgress && ((done, of, table) => onProgress(done, of, table && wordsOf(table)))
}

function wordsOf(table: string): string {
  return namesForUsers[table] ?? `${table.replaceAll('_', ' ')}s`
}

type Count = { kind: string; rows: number }

export function countRows(counts: Counts): Count[] {
  return Object.entries(counts).map(([kind, rows]) => ({ kind, rows }))
}

export const countColumns: Column<Count>[] = [
  { title: 'KIND', of: ({ kind }) => wordsOf(kind) },
  { title: 'ROWS', of: ({ rows }) => rows },
]
