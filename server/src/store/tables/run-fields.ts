// Parts that statements about runs share.

import { type ExecState, execStates } from '@jobcast/contract/words'
import type { Values } from '../queries.ts'
import { computed, type Field, orNull, text } from '../schema/column.ts'
import { run } from '../schema/tables.ts'

/** The number of executions in each state. */
export const countFields: Record<ExecState, Field<number>> = pickCounts(run.fields)

export const OF_JOB =
  'run.job_no = (SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName)'

/** Selects runs of jobs that match one of these (matchesJob); its values are those of `jobValues`. */
export function ofJobs(jobs: readonly string[]): string {
  const matches = jobs.map((pattern, index) =>
    pattern.endsWith('*')
      ? `substr(job_name, 1, length(CAST(:jobs${index} AS text))) = :jobs${index}`
      : `job_name = :jobs${index}`,
  )
  return `run.job_no IN (SELECT job_no FROM job WHERE owner_no = :ownerNo AND (${matches.join(' OR ')}))`
}

export function jobValues(jobs: readonly string[] = []): Values {
  return Object.fromEntries(jobs.map((pattern, index) => [`jobs${index}`, pattern.replace(/\*$/, '')]))
}

/** The window in which executions of the run are offered; null: at any time. */
export const WINDOW_OF_RUN = computed(
  '(SELECT window_name FROM run_request WHERE run_request.run_id = run.run_id)',
  orNull(text()),
)

// The conditions of the index of unfinished runs.
export const unfinishedOn = {
  sqlite: 'run.pending + run.in_progress + run.canceling > 0',
  postgres: 'NOT run.ended',
}

export function pickCounts<Value>(row: Record<ExecState, Value>): Record<ExecState, Value> {
  return Object.fromEntries(execStates.map((state) => [state, row[state]])) as Record<ExecState, Value>
}
