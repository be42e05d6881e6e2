// Unsuccessful executions of a run by reason, and values that their devices have more often than the others. Both may read all
// executions of a run: on SQLite in the thread for selectors.

import { unsuccessfulEnds } from '../../domain/execution/execution.ts'
import { inBoth, type Queries, type Spelling } from '../queries.ts'
import { flag, number, orNull, rows, select } from '../schema/column.ts'
import { device, deviceAttribute, execution, run, transition } from '../schema/tables.ts'
import { IN_STATE_INDEX } from './execution-list.ts'
import type { ReadSteps } from './step.ts'

/** Reasons are grouped by their first characters. */
const reasonLength = 256
const sampleSize = 20
/** Maximum number of executions read for a sample, because a reason may be rare. */
const lookedAt = 5000

const RANGE = select(run.pick('firstExecutionId', 'total', 'SUCCEEDED'))
const GET_RANGE = `SELECT ${RANGE} FROM run WHERE run.owner_no = :ownerNo AND run.run_id = :runId` as const

// Other executions with `CANCELED` were canceled before their device got them.
const isUnsuccessful = ({ is }: Spelling) =>
  `execution.owner_no = :ownerNo AND ${IN_STATE_INDEX[is]}
    AND execution.execution_id BETWEEN :first AND :last
    AND (execution.state <> 'CANCELED' OR execution.notified_at IS NOT NULL OR execution.delivered_at IS NOT NULL
      OR execution.started_at IS NOT NULL OR execution.attempt > 1)` as const
const IS_END = `execution.state IN (${unsuccessfulEnds.map((state) => `'${state}'`).join(', ')})`
const REASON = `substr(transition.reason, 1, ${reasonLength})`
const LAST_STEP = `transition ON transition.execution_id = execution.execution_id
      AND transition.version_number = execution.version_number`

const GROUP = rows({
  ...execution.pick('execState'),
  event: orNull(transition.fields.event),
  ...transition.pick('reason'),
  ...{ count: number(), firstId: number(), total: number() },
})
const COUNT_GROUPS = inBoth(
  (spelling) => `
  SELECT execution.state AS "execState", transition.event AS event, ${REASON} AS reason, count(*) AS count,
    min(execution.execution_id) AS "firstId", CAST(sum(count(*)) OVER () AS bigint) AS total
  FROM execution ${spelling.by('execution_by_state')} LEFT JOIN ${LAST_STEP}
  WHERE ${IS_END} AND ${isUnsuccessful(spelling)}
  GROUP BY execution.state, transition.event, ${REASON}
  ORDER BY count(*) DESC, min(execution.execution_id) LIMIT :groups`,
)
const ID = select(device.pick('deviceId'))
const SAMPLE = inBoth(
  (spelling) => `
  SELECT ${ID} FROM (
    SELECT * FROM execution ${spelling.by('execution_by_state')}
    WHERE execution.state = :execState AND ${isUnsuccessful(spelling)} ORDER BY execution_id LIMIT ${lookedAt}) AS execution
    LEFT JOIN ${LAST_STEP}
    ${spelling.join} device ON device.device_no = execution.device_no
  WHERE transition.event IS NOT DISTINCT FROM :event AND ${REASON} IS NOT DISTINCT FROM :reason LIMIT ${sampleSize}`,
)
const FIRST_OF = inBoth(
  ({ wanted, join }) => `
  SELECT ${select({ ...execution.pick('jobExecutionId'), ...device.pick('deviceId') })} FROM ${wanted('ids')}
    ${join} execution ON execution.execution_id = wanted.id ${join} device ON device.device_no = execution.device_no`,
)

/**
 * Selects about this many of a million executions, the same for each call. Multiplication modulo a prime spreads them evenly, even
 * if something repeats with every tenth or hundredth device.
 */
const isChosen = <Part extends string>(part: Part) =>
  `execution.execution_id % 1000003 * 618034 % 1000003 < CAST(:${part} AS bigint) * 1000003 / 1000000` as const
const SHARED = rows({
  ...deviceAttribute.pick('name', 'value'),
  ...{ isTag: flag(), isHidden: flag() },
  ...{ failed: number(), ofFailed: number(), succeeded: number(), ofSucceeded: number() },
})
const LIST_SHARED = inBoth((spelling) => {
  const { is, join, by } = spelling
  const [yes, no] = is === 'sqlite' ? ['1', '0'] : ['true', 'false']
  const tags =
    is === 'sqlite'
      ? 'json_each(device.tags) AS each'
      : 'LATERAL json_array_elements_text(device.tags::json) AS each (value)'
  const asJson = is === 'sqlite' ? 'json_quote(each.value)' : 'CAST(to_json(each.value) AS text)'
  const count = (of: string, failed: string) => `(SELECT count(*) FROM ${of} WHERE is_failed = ${failed})`
  const difference = `(counted.failed * 100.0 / sides.failed
      - counted.succeeded * 100.0 / ${spelling.greatest}(sides.succeeded, 1))`
  // Uses a number for each device, because the tags of twenty thousand devices exceed the work memory of PostgreSQL.
  return `
  WITH compared AS MATERIALIZED (
    SELECT device.device_no, chosen.is_failed FROM (
      SELECT device_no, ${yes} AS is_failed FROM execution ${by('execution_by_state')}
      WHERE ${IS_END} AND ${isUnsuccessful(spelling)} AND ${isChosen('failed')}
      UNION ALL
      SELECT device_no, ${no} FROM execution
      WHERE execution_id BETWEEN :first AND :last AND state = 'SUCCEEDED' AND ${isChosen('succeeded')}) AS chosen
    ${join} device ON device.device_no = chosen.device_no AND device.deleted_at IS NULL),
  sides AS MATERIALIZED (
    SELECT ${count('compared', yes)} AS failed, ${count('compared', no)} AS succeeded),
  counted AS (
    SELECT name, value, is_tag, is_hidden, count(*) FILTER (WHERE is_failed = ${yes}) AS failed,
      count(*) FILTER (WHERE is_failed = ${no}) AS succeeded
    FROM (
      SELECT name, value, ${no} AS is_tag, shadowed AS is_hidden, is_failed
      FROM compared ${join} device_attribute ON device_attribute.device_no = compared.device_no
      UNION ALL
      SELECT '', ${asJson}, ${yes}, ${no}, is_failed
      FROM compared ${join} device ON device.device_no = compared.device_no CROSS JOIN ${tags}) AS had
    GROUP BY name, value, is_tag, is_hidden)
  SELECT name, value, is_tag AS "isTag", is_hidden AS "isHidden", counted.failed, sides.failed AS "ofFailed",
    counted.succeeded, sides.succeeded AS "ofSucceeded"
  FROM counted CROSS JOIN sides
  WHERE counted.failed >= :least AND ${difference} > 0 AND ${difference} >= CAST(:percent AS integer)
  ORDER BY ${difference} DESC,
    counted.failed DESC, is_tag DESC, name, value LIMIT :limit`
})

async function findRange(queries: Queries, { ownerNo, runId }: { ownerNo: number; runId: number }) {
  const found = await queries.get(RANGE, GET_RANGE, { ownerNo, runId })
  if (found === undefined) return undefined
  const { firstExecutionId: first, total, SUCCEEDED: succeeded } = found
  return { succeeded, part: { ownerNo, first, last: first + total - 1 } }
}

/** Several statements that see one state of the database. */
export const runFailureSnapshots: ReadSteps<'countFailures' | 'listSharedValues'> = {
  async countFailures(queries, { groups, sampled, ...run }) {
    const range = await findRange(queries, run)
    if (range === undefined) return undefined
    const { part, succeeded } = range
    const found = await queries.all(GROUP, COUNT_GROUPS, { ...part, groups })
    const ids = found.map(({ firstId }) => firstId)
    const first = await readFirst(queries, ids)
    const listed = found.map(async ({ firstId, total: _, ...group }, index) => {
      const { execState, event, reason } = group
      const only = first.get(firstId)
      if (index >= sampled || group.count === 1) return { ...group, sample: only === undefined ? [] : [only] }
      const asked = { ...part, first: firstId, execState, event, reason }
      const sample = (await queries.all(ID, SAMPLE, asked)).map(({ deviceId }) => deviceId)
      return { ...group, sample }
    })
    return { total: found[0]?.total ?? 0, groups: await Promise.all(listed), succeeded }
  },
  async listSharedValues(queries, { ownerNo, runId, ...asked }) {
    const range = await findRange(queries, { ownerNo, runId })
    return range ? queries.all(SHARED, LIST_SHARED, { ...range.part, ...asked }) : []
  },
}

async function readFirst(queries: Queries, ids: number[]): Promise<Map<number, string>> {
  const FIRST = rows({ ...execution.pick('jobExecutionId'), ...device.pick('deviceId') })
  const found = ids.length === 0 ? [] : await queries.all(FIRST, FIRST_OF, { ids })
  return new Map(found.map(({ jobExecutionId, deviceId }) => [jobExecutionId, deviceId]))
}
