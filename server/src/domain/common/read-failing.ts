// Repeated failures of background tasks, as shown in a run, a schedule or an explanation.

import { ApiError } from '@jobcast/contract'
import type { Moment } from '../execution/execution.ts'
import { inWords } from '../execution/explain-end.ts'
import type { Failing, FailingKind } from './ports/failing-tasks.ts'
import type { Store } from './ports/store.ts'

/** How long a failure is shown: longer than the longest delay between two tries. */
export const failingForMs = 180_000

export type FailingDeps = { store: Pick<Store, 'listFailing'>; moment: () => Moment }

/** Failing tasks by number. */
export async function readFailing(
  { store, moment }: FailingDeps,
  kind: FailingKind,
  taskNos: number[],
): Promise<ReadonlyMap<number, Failing>> {
  if (taskNos.length === 0) return new Map()
  const found = await store.listFailing({ kind, taskNos, after: moment().at - failingForMs })
  return new Map(found.map(({ taskNo, ...failing }) => [taskNo, failing]))
}

/** Shown to owners, so it omits messages of the database, which may contain its address or data of other owners. */
export function failureInWords(error: unknown): string {
  if (error instanceof ApiError) return `${error.code}: ${error.details.detail ?? error.message}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const known = code !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(code) ? ` (${code})` : ''
  return `internal error${known}; the log of the server has the cause`
}

/** "3 tries have failed since 2026-11-18T02:00:00Z, the last one with: …" */
export function failingInWords({ times, since, message }: Failing): string {
  return `${times} tries have failed since ${inWords(since)}, the last one with: ${message}`
}
