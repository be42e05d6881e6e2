import { execStates } from '@jobcast/contract/words'
import { unsuccessfulEnds } from '../../domain/execution.ts'
import type { Store } from '../../domain/store.ts'
import { countColumn, toRun } from '../from-rows.ts'
import type { Database } from './database.ts'
import { sliced } from './rows.ts'

export const STATE_COUNTS = execStates.map((state) => `run.${countColumn(state)}`).join(', ')
const SELECT = `
  SELECT run_id, job_name, run.version_no, launched_at, total, retry_of, ${STATE_COUNTS} FROM run JOIN job USING (job_no)`
const GET = `${SELECT} WHERE run.owner_no = $1 AND run_id = $2`
// What has not ended is rare among what a job has run: it is looked for by its own index.
const listOf = (of: string, which: string) => `
  ${SELECT} WHERE ${of} AND run_id < $2 ${which} ORDER BY run_id DESC LIMIT $3`
const OF_OWNER = 'run.owner_no = $1'
const OF_JOB = 'job_no = (SELECT job_no FROM job WHERE owner_no = $1 AND job_name = $4)'
const LISTS = {
  ofOwner: {
    all: listOf(OF_OWNER, ''),
    ended: listOf(OF_OWNER, 'AND ended'),
    open: listOf(OF_OWNER, 'AND NOT ended'),
  },
  ofJob: {
    all: listOf(OF_JOB, ''),
    ended: listOf(OF_JOB, 'AND ended'),
    open: listOf(OF_OWNER, 'AND NOT ended AND job_name = $4'),
  },
}
const UNSUCCESSFUL = `
  SELECT job_name, device_id FROM run JOIN job USING (job_no)
    LEFT JOIN execution ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
      AND state = ANY ('{${unsuccessfulEnds.join(',')}}'::exec_state[])
    LEFT JOIN device ON device.device_no = execution.device_no AND device.deleted_at IS NULL
  WHERE run.owner_no = $1 AND run.run_id = $2 ORDER BY execution_id`

export function buildRunSteps(db: Database): Pick<Store, 'getRun' | 'listRuns' | 'listUnsuccessful'> {
  return {
    async getRun({ ownerNo, runId }) {
      const [row] = await db.query(GET, [ownerNo, runId])
      return row && toRun(row)
    },
    async listRuns({
      ownerNo,
      filter: { jobName, finished },
      slice: { after = Number.MAX_SAFE_INTEGER, limit },
    }) {
      const which = finished === undefined ? 'all' : finished ? 'ended' : 'open'
      const page = [ownerNo, after, limit + 1]
      const rows =
        jobName === undefined
          ? await db.query(LISTS.ofOwner[which], page)
          : await db.query(LISTS.ofJob[which], [...page, jobName])
      return sliced(rows.map(toRun), limit, (run) => run.runId)
    },
    async listUnsuccessful({ ownerNo, runId }) {
      const rows = await db.query(UNSUCCESSFUL, [ownerNo, runId])
      // A run without any is one row without a device.
      const deviceIds = rows.flatMap((row) => (row.device_id === null ? [] : [row.device_id as string]))
      return rows[0] && { jobName: rows[0].job_name as string, deviceIds }
    },
  }
}
