// Devices that got the job of a schedule with match (see domain/schedule/give-again.ts).

import type { StoredSchedule } from '../../domain/schedule/ports/schedules.ts'
import { isUnfinished } from '../live-executions.ts'
import { inBatch } from '../moves.ts'
import { inBoth, type Writes } from '../queries.ts'
import { rows, select } from '../schema/column.ts'
import { device, execution, scheduleDevice } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const DEVICE_NO = rows(device.pick('deviceNo'))
const LIST_NOS = inBoth(
  ({ isIn }) => `
  SELECT device_no AS "deviceNo" FROM schedule_device
  WHERE schedule_no = :scheduleNo AND ${isIn('device_no', 'deviceNos', 'integer')}`,
)
const GIVEN = select(
  scheduleDevice.pick('deviceNo', 'jobExecutionId', 'jobVersion', 'times', 'endedAt', 'againAt'),
)
const LIST = inBoth(
  ({ isIn }) => `
  SELECT ${GIVEN} FROM schedule_device
  WHERE schedule_no = :scheduleNo AND ${isIn('device_no', 'deviceNos', 'integer')}`,
)
const LIST_ALL = `
  SELECT ${GIVEN} FROM schedule_device WHERE schedule_no = :scheduleNo AND device_no > :after
  ORDER BY device_no LIMIT :limit` as const
const FIRST = rows(scheduleDevice.pick('scheduleNo', 'againAt'))
/** Reads only the first entry in the index per schedule. */
const FIRST_AGAIN = inBoth(
  ({ wanted, by }) => `
  SELECT wanted.id AS "scheduleNo", (
    SELECT again_at FROM schedule_device ${by('schedule_device_again')}
    WHERE schedule_no = wanted.id AND again_at IS NOT NULL ORDER BY again_at LIMIT 1) AS "againAt"
  FROM ${wanted('scheduleNos')}`,
)
const DUE = inBoth(
  ({ by }) => `
  SELECT device_no AS "deviceNo" FROM schedule_device ${by('schedule_device_again')}
  WHERE schedule_no = :scheduleNo AND again_at IS NOT NULL AND again_at <= :by ORDER BY again_at LIMIT :limit`,
)
const EXECUTION_ID = rows(execution.pick('jobExecutionId'))
const UNENDED = inBoth(
  ({ is, wanted, join }) => `
  SELECT execution_id AS "jobExecutionId" FROM ${wanted('jobExecutionIds')}
    ${join} execution ON execution.execution_id = wanted.id
  WHERE ${isUnfinished[is]}`,
)
// An id that is not greater was recorded before.
const RECORD = `
  INSERT INTO schedule_device (schedule_no, device_no, execution_id, version_no, times)
  SELECT CAST(:scheduleNo AS bigint), device_no, execution_id,
    (SELECT version_no FROM run WHERE run.run_id = execution.run_id), 1
  FROM execution WHERE execution_id BETWEEN :first AND :last
  ON CONFLICT (schedule_no, device_no) DO UPDATE SET execution_id = excluded.execution_id,
    version_no = excluded.version_no, times = coalesce(schedule_device.times, 0) + 1, ended_at = NULL, again_at = NULL
  WHERE schedule_device.execution_id IS NULL OR schedule_device.execution_id < excluded.execution_id` as const
const RECORD_ENDED = inBoth(
  ({ isIn }) => `
  UPDATE schedule_device SET ended_at = :at, again_at = :againAt
  WHERE schedule_no = :scheduleNo AND ${isIn('device_no', 'deviceNos', 'integer')}
    AND (execution_id IS NULL OR ${isIn('execution_id', 'jobExecutionIds', 'bigint')}) AND again_at IS NULL`,
)
const RECORD_LEFT = inBoth(
  ({ isIn }) => `
  UPDATE schedule_device SET times = 0,
    again_at = CASE WHEN again_at > :againAt THEN CAST(:againAt AS bigint) ELSE again_at END
  WHERE schedule_no = :scheduleNo AND ${isIn('device_no', 'deviceNos', 'integer')} AND times > 0`,
)
const DROP = inBoth(
  ({ isIn }) => `
  DELETE FROM schedule_device
  WHERE schedule_no = :scheduleNo AND ${isIn('device_no', 'deviceNos', 'integer')}
    AND again_at IS NOT NULL AND again_at <= :by`,
)
// A device with a canceled execution still gets the job.
const STOP_REPEATING = `
  UPDATE schedule_device SET again_at = NULL
  WHERE schedule_no = :scheduleNo AND again_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM execution
    WHERE execution.execution_id = schedule_device.execution_id AND state = 'CANCELED')` as const
// Numbers of versions of different jobs cannot be compared.
const CLEAR_VERSIONS = `
  UPDATE schedule_device SET version_no = NULL
  WHERE schedule_no = :scheduleNo AND version_no IS NOT NULL` as const

export const givenDeviceReads: ReadSteps<
  'listGivenDevices' | 'listGiven' | 'listAllGiven' | 'listFirstAgain' | 'listDueAgain' | 'listUnended'
> = {
  async listGivenDevices(queries, devices) {
    const found = await queries.all(DEVICE_NO, LIST_NOS, partOf(LIST_NOS, devices))
    return found.map(({ deviceNo }) => deviceNo)
  },
  listGiven: (queries, devices) => queries.all(GIVEN, LIST, partOf(LIST, devices)),
  listAllGiven: (queries, devices) => queries.all(GIVEN, LIST_ALL, partOf(LIST_ALL, devices)),
  listFirstAgain: (queries, schedules) => queries.all(FIRST, FIRST_AGAIN, partOf(FIRST_AGAIN, schedules)),
  async listDueAgain(queries, due) {
    const found = await queries.all(DEVICE_NO, DUE, partOf(DUE, due))
    return found.map(({ deviceNo }) => deviceNo)
  },
  async listUnended(queries, executions) {
    const found = await queries.all(EXECUTION_ID, UNENDED, partOf(UNENDED, executions))
    return found.map(({ jobExecutionId }) => jobExecutionId)
  },
}

export const givenDeviceWrites: WriteSteps<
  'recordGiven' | 'recordEnded' | 'recordLeft' | 'dropGiven' | 'cancelLeft'
> = {
  async recordGiven(queries, given) {
    await queries.run(RECORD, partOf(RECORD, given))
  },
  async recordEnded(queries, { scheduleNo, deviceNos, jobExecutionIds, at, againAt }) {
    await queries.run(RECORD_ENDED, { scheduleNo, deviceNos, jobExecutionIds, at, againAt })
  },
  async recordLeft(queries, left) {
    await queries.run(RECORD_LEFT, partOf(RECORD_LEFT, left))
  },
  async dropGiven(queries, dropped) {
    await queries.run(DROP, partOf(DROP, dropped))
  },
  cancelLeft: (queries, { jobExecutionIds, moment, actor }) =>
    inBatch(queries, async (moves) => {
      const found = await moves.loadById(jobExecutionIds)
      return moves.batch.moveAll(found, { event: 'no-longer-matching', moment, actor })
    }),
}

/** The schedule was put, so records of its previous rule and job no longer apply. */
export async function replaceGiven(
  queries: Writes,
  before: StoredSchedule,
  after: Pick<StoredSchedule, 'jobName' | 'content'>,
): Promise<void> {
  const { scheduleNo } = before
  if (isRepeated(before) && !isRepeated(after)) await queries.run(STOP_REPEATING, { scheduleNo })
  if (before.jobName !== after.jobName) await queries.run(CLEAR_VERSIONS, { scheduleNo })
}

function isRepeated({ content: { when } }: Pick<StoredSchedule, 'content'>): boolean {
  return when.kind === 'match' && when.again === 'WHILE_MATCHING'
}
