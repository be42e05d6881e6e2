// What a run, a schedule or an explanation shows of tasks of the service that fail again and again.

import { ApiError } from '@jobcast/contract'
import type { Moment } from '../execution/execution.ts'
import { inWords } from '../execution/explain-end.ts'
import type { Failing, FailingKind } from './ports/failing-tasks.ts'
import type { Store } from './ports/store.ts'

/** For so long it is known of a try that failed: longer than the longest delay between two tries. */
export const failingForMs = 180_000

export type FailingDeps = { store: Pick<Store, 'listFailing'>; moment: () => Moment }

/** By the numbers of the tasks; those that do not fail are not in it. */
export async function readFailing(
  { store, moment }: FailingDeps,
  kind: FailingKind,
  taskNos: number[],
): Promise<ReadonlyMap<number, Failing>> {
  if (taskNos.length === 0) return new Map()
  const found = await store.listFailing({ kind, taskNos, after: moment().at - failingForMs })
  return new Map(found.map(({ taskNo, ...failing }) => [taskNo, failing]))
}

/** The owner of a run reads it: the words of a database may name its address, or rows of somebody else. */
export function failureInWords(error: unknown): string {
  if (error instanceof ApiError) return `${error.code}: ${error.details.detail ?? error.message}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const known = code !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(code) ? ` (${code})` : ''
  return `internal error${known}; the log of the server has the cause`
}

/** "3 tries since 2026-11-18T02:00:00Z have failed, the last one with: …" */
export function failingInWords({ times, since, message }: Failing): string {
  return `${times} tries have failed since ${inWords(since)}, the last one with: ${message}`
}
