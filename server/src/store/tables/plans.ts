// Plans of runs, stored as long as they can be started.

import { inBoth } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { runPlan } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const { ownerNo: _, size: __, ...shown } = runPlan.fields
const PLAN = select(shown)
const GET = `SELECT ${PLAN} FROM run_plan WHERE owner_no = :ownerNo AND plan_id = :planId` as const
const INSERT = `
  INSERT INTO run_plan (owner_no, plan_id, planned_by, created_at, request, parameters, secrets, bound_to, size)
  VALUES (:ownerNo, :planId, :plannedBy, :createdAt, :request, :parameters, :secrets, :boundTo, :size)`
const DROP_OLDEST = `
  DELETE FROM run_plan WHERE owner_no = :ownerNo AND plan_id IN (
    SELECT plan_id FROM (
      SELECT plan_id, row_number() OVER newest AS place, sum(size) OVER newest AS bytes FROM run_plan
      WHERE owner_no = :ownerNo WINDOW newest AS (ORDER BY created_at DESC, plan_id DESC)) AS placed
    WHERE place > :most OR (place > 1 AND bytes > :mostBytes))`
const PURGE = inBoth(
  ({ lockFree }) => `
  DELETE FROM run_plan WHERE (owner_no, plan_id) IN (
    SELECT owner_no, plan_id FROM run_plan WHERE created_at <= :olderThan
    ORDER BY created_at LIMIT 100 ${lockFree})`,
)
const RUN = rows({ runId: number() })
const FIND_RUN = `
  SELECT run_request.run_id AS "runId" FROM run_request JOIN run ON run.run_id = run_request.run_id
  WHERE run_request.plan_id = :planId AND run_request.plan_id IS NOT NULL AND run.owner_no = :ownerNo` as const

export const planReads: ReadSteps<'getPlan' | 'findPlannedRun'> = {
  async getPlan(queries, { ownerNo, planId }) {
    const row = await queries.get(PLAN, GET, { ownerNo, planId })
    if (row === undefined) return undefined
    const { parameters, secrets, ...plan } = row
    return { ...plan, values: parameters && { parameters, secrets } }
  },
  async findPlannedRun(queries, { ownerNo, planId }) {
    return (await queries.get(RUN, FIND_RUN, { ownerNo, planId }))?.runId
  },
}

export const planWrites: WriteSteps<'keepPlan' | 'purgePlans'> = {
  async keepPlan(queries, { ownerNo, planId, plannedBy, createdAt, values, most, mostBytes, ...plan }) {
    const request = JSON.stringify(plan.request)
    const parameters = values && JSON.stringify(values.parameters)
    const secrets = values?.secrets ?? null
    const size = request.length + (parameters?.length ?? 0) + (secrets?.length ?? 0)
    const boundTo = JSON.stringify(plan.boundTo)
    const row = { ownerNo, planId, plannedBy, createdAt, request, parameters, secrets, boundTo, size }
    await queries.run(INSERT, row)
    await queries.run(DROP_OLDEST, { ownerNo, most, mostBytes })
  },
  /** Purges a batch; two nodes do not wait for each other. */
  purgePlans: async (queries, { olderThan }) => (await queries.run(PURGE, { olderThan })) > 0,
}
