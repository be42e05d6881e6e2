import { inBoth } from '../queries.ts'
import { select } from '../schema/column.ts'
import { failingTask } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const FAILING = select(failingTask.pick('taskNo', 'since', 'times', 'message'))
const LIST = inBoth(
  ({ isIn }) => `
  SELECT ${FAILING} FROM failing_task
  WHERE kind = :kind AND ${isIn('task_no', 'taskNos', 'bigint')} AND last_at > :after`,
)
// If several nodes fail, the count of the last one is stored.
const RECORD = `
  INSERT INTO failing_task (kind, task_no, since, last_at, times, message)
  VALUES (:kind, :taskNo, :since, :lastAt, :times, :message)
  ON CONFLICT (kind, task_no) DO UPDATE SET since = excluded.since, last_at = excluded.last_at,
    times = excluded.times, message = excluded.message`
const CLEAR = 'DELETE FROM failing_task WHERE kind = :kind AND task_no = :taskNo'

export const failingTaskReads: ReadSteps<'listFailing'> = {
  listFailing: (queries, tasks) => queries.all(FAILING, LIST, partOf(LIST, tasks)),
}

export const failingTaskWrites: WriteSteps<'recordFailing' | 'clearFailing'> = {
  async recordFailing(queries, task) {
    await queries.run(RECORD, partOf(RECORD, task))
  },
  async clearFailing(queries, task) {
    await queries.run(CLEAR, partOf(CLEAR, task))
  },
}
