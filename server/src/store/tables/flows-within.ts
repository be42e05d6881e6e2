// State changes of executions whose devices match a selector, from the event log, newest first.

import type { FlowsWithin } from '../../domain/device/ports/fleet.ts'
import { inBoth, type Queries, type Sql, type Values } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { event, run } from '../schema/tables.ts'
import { toFlow } from './fleet.ts'
import { jobValues, ofJobs } from './run-fields.ts'
import { type SelectorCompiler, withSelector } from './selector-sql.ts'
import type { Input } from './step.ts'

/** Events that one call reads, with the execution and the device of each. */
const readAtOnce = 5000

const RANGE = rows({ events: number(), oldest: orNull(number()) })
const READ_RANGE = `
  SELECT count(*) AS events, min(event_id) AS oldest FROM (
    SELECT event_id FROM event WHERE owner_no = :ownerNo AND event_id > :after AND event_id < :before
    ORDER BY event_id DESC LIMIT ${readAtOnce}) AS page` as const
const AT = rows(event.pick('at'))
const READ_AT = 'SELECT at FROM event WHERE owner_no = :ownerNo AND event_id = :oldest'
const IN_RANGE = 'event.owner_no = :ownerNo AND event.event_id > :downTo AND event.event_id < :before'

type Jobs = readonly string[] | undefined
const joinRun = (join: string, jobs: Jobs) =>
  `${join} run ON run.run_id = event.run_id ${jobs === undefined ? '' : `AND ${ofJobs(jobs)}`}`
const CREATED = rows({ ...event.pick('eventId', 'at'), ...run.pick('runId', 'total') })
const createdIn = (jobs: Jobs) =>
  inBoth(
    ({ join }) => `
  SELECT event.event_id AS "eventId", event.at AS at, run.run_id AS "runId", run.total AS total
  FROM event ${joinRun(join, jobs)}
  WHERE ${IN_RANGE} AND event.type = 'run.created' ORDER BY event.event_id DESC`,
  )
const FLOW = rows({ ...event.pick('from', 'type'), stepNo: number(), count: number() })
const flowsIn = ({ is }: SelectorCompiler, condition: string, jobs: Jobs) => {
  const join = is === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
  // Finds each by its id: in a new database, PostgreSQL expects so few executions that it would read all of them.
  const execution =
    is === 'sqlite'
      ? 'CROSS JOIN execution ON execution.execution_id = event.execution_id'
      : 'CROSS JOIN LATERAL (SELECT * FROM execution WHERE execution_id = event.execution_id LIMIT 1) AS execution'
  return `
  SELECT event.at / CAST(:stepMs AS bigint) AS "stepNo", event.from_state AS "from", event.type AS type, count(*) AS count
  FROM event ${execution}
    ${join} device ON device.device_no = execution.device_no AND device.deleted_at IS NULL
    ${jobs === undefined ? '' : joinRun(join, jobs)}
  WHERE ${IN_RANGE} AND event.from_state IS NOT NULL AND event.type <> 'execution.progress' AND ${condition}
  GROUP BY 1, 2, 3`
}

export async function countFlowsWithin(
  queries: Queries,
  { ownerNo, where, jobs, after, before, stepMs, maxExecutions }: Input<'countFlowsWithin'>,
): Promise<FlowsWithin> {
  const { events, oldest } = await queries.one(RANGE, READ_RANGE, { ownerNo, after, before })
  const found: FlowsWithin = {
    ...{ flows: [], created: [], events, oldestAt: undefined, isCut: false },
    downTo: oldest === null || events < readAtOnce ? after : oldest - 1,
  }
  if (oldest === null) return found
  found.oldestAt = (await queries.one(AT, READ_AT, { ownerNo, oldest })).at
  const createdSql: Sql = createdIn(jobs)
  const range = { ownerNo, before, ...jobValues(jobs) }
  const given: Values = { ...range, downTo: found.downTo }
  let executions = 0
  for (const { eventId, at, runId, total } of await queries.all(CREATED, createdSql, given)) {
    executions += total
    if (executions > maxExecutions) {
      Object.assign(found, { downTo: eventId, oldestAt: at, isCut: true })
      break
    }
    found.created.push({ runId, at, total })
  }
  const { sql, values } = withSelector((compiler) => flowsIn(compiler, compiler.condition(where), jobs), {
    ...range,
    downTo: found.downTo,
    stepMs,
  })
  found.flows = (await queries.all(FLOW, sql, values)).flatMap(toFlow)
  return found
}
