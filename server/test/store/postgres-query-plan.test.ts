// How PostgreSQL finds the rows. Times on a small database tell nothing; plans do. Scans are switched off on our
// connections, so one that is in a plan all the same says that no index leads to the rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import pg from 'pg'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import { connectionOptions } from '../../src/store/postgres/connect.ts'
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { takeEveryStep } from './every-step.ts'
import { createOne, seedOwner } from './store-under-test.ts'

/** Every statement that is prepared from now on. */
function recordStatements(): Set<string> {
  const statements = new Set<string>()
  const client = pg.Client.prototype as { query: (config: unknown, ...more: unknown[]) => unknown }
  const send = client.query
  client.query = function (config, ...more) {
    const { name, text } = config as { name?: string; text?: string }
    if (name !== undefined && text !== undefined) statements.add(text)
    return send.call(this, config, ...more)
  }
  return statements
}

async function takeStepsAmongNodes({ nodes, ...store }: PostgresStore): Promise<void> {
  const { ownerNo, trigger } = await seedOwner(store)
  const { runId } = await createOne(store, trigger(['d1']))
  const device = { ownerNo, deviceId: 'd1', at: 1 }
  await nodes.beat(undefined)
  await nodes.beat(steadyInstant(1))
  await nodes.removeDeadNodes()
  await nodes.recordSeen([device])
  await nodes.findStaleSessions([{ ...device, since: steadyInstant(1), tokenId: null }])
  await nodes.getLaunchedRun(runId)
}

/** Those that have few rows, or that a statement means to read whole. */
const small =
  /^(owner|event_id|write_probe|commit_marker|webhook|node|steady_clock|execution_partition|purged_range|fleet_freeze|offer_window|pg_inherits)$/

/** Few rows, or a partial index that holds just those. */
const readWhole =
  /^(run_unfinished|owner_pkey|webhook_pkey|node_pkey|commit_marker_pkey|device_online|purged_range_pkey|execution_partition_pkey|api_key_admin|fleet_freeze_pkey|offer_window_pkey|device_attribute_without_zone|rollout_open|run_request_replacing|schedule_watched|schedule_matching|secret_former|execution_from_\d+_execution_id_idx)$/

const indexOf: [string, RegExp, RegExp][] = [
  [
    'what waits for a device',
    /WITH queue AS MATERIALIZED/,
    /using execution_\w*device_no_execution_id_idx\w* on/,
  ],
  [
    'what waits for a device with a priority',
    /WITH queue AS MATERIALIZED/,
    /using execution_\w*device_no_priority_execution_id_idx\w* on/,
  ],
  [
    'the next one of a device by its priority',
    /AS candidate/,
    /using execution_\w*device_no_priority_execution_id_idx\w* on/,
  ],
  ['the next one of a device', /AS candidate/, /using execution_\w*device_no_execution_id_idx\w* on/],
  [
    'what has not ended on a device',
    /device_no = \$1\s+AND state <= 'CANCELING'/,
    /device_no_execution_id_idx/,
  ],
  ['what a clock has run out for', /WHERE due_at <= \$1/, /using execution_\w*due_at_idx on/],
  ['runs that expire', /expire_at <= \$1/, /using (run|rollout_release)_expiring on/],
  ['runs over their deadline', /deadline_at <= \$1/, /using run_deadline on/],
  [
    'an execution by its id',
    /WHERE execution_id = \$1 AND execution\.owner_no/,
    /using execution_\w*pkey on/,
  ],
  ['executions that are locked', /AS wanted \(id\)\s+\S/, /using execution_\w*pkey on/],
  [
    'devices that get a job again',
    /again_at IS NOT NULL.* ORDER BY again_at/,
    /using schedule_device_again on/,
  ],
  ['a key', /api_key JOIN.*WHERE key_id = \$1/, /using api_key_pkey/],
  ['whose token it is', /WHERE token_id = \$1/, /using device_token_id_key/],
  ['devices that are online', /AND online\s+ORDER BY/, /using device_online/],
  ['the history of an execution', /LEFT JOIN transition/, /using transition_pkey/],
  ['output from an offset on', /start >= coalesce/, /using output_pkey/],
  ['events from a place on', /event_id > \$2 ORDER BY event_id LIMIT/, /using event_pkey/],
  ['what is pending of a webhook', /event_id > \$2 AND state = 'PENDING'/, /using webhook_delivery_pending/],
  ['runs that have not ended', /AND NOT run\.ended/, /using run_(unfinished|pkey|expiring|deadline)/],
  ['runs of a schedule', /made\.schedule_name = \$\d/, /using run_request_(by_schedule_name|pkey) on/],
  ['old idempotency keys', /idempotency_key WHERE created_at <= \$1/, /using idempotency_key_by_age/],
  ['old plans', /run_plan WHERE created_at <= \$1/, /using run_plan_by_age/],
]

const server = await sharedPostgres()

test('no statement scans a table that grows, and an index made for it finds', async (t) => {
  const url = await createDatabase(server)
  const statements = recordStatements()
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  await takeStepsAmongNodes(store)
  await takeEveryStep(store)
  const client = new pg.Client({ ...connectionOptions(url), pipeline: false })
  await client.connect()
  t.after(() => client.end())
  const plans = new Map<string, string>()
  for (const sql of statements) {
    if (/^\s*(CREATE|ALTER)/.test(sql)) continue
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN) ${sql}`)
    plans.set(sql, rows.map((row) => row['QUERY PLAN']).join('\n'))
  }
  assert.ok(plans.size > 150, `only ${plans.size} statements were seen`)
  await t.test('the rows of every statement', () => {
    for (const [sql, plan] of plans) {
      for (const [, table = ''] of plan.matchAll(/Seq Scan on (\w+)/g)) {
        assert.match(table, small, `${sql}\n${plan}`)
      }
      // An index that is read from end to end is a scan as well.
      for (const [, index = ''] of plan.matchAll(
        /Index (?:Only )?Scan (?:Backward )?using (\w+)(?!.*\n *Index Cond)/g,
      )) {
        assert.match(index, readWhole, `${sql}\n${plan}`)
      }
      assert.doesNotMatch(plan, /Hash Join|Merge Join/, `${sql}\n${plan}`)
    }
  })
  for (const [title, pattern, index] of indexOf) {
    await t.test(title, () => {
      const found = [...plans].filter(([sql]) => pattern.test(sql))
      assert.ok(found.length > 0, 'no statement is like this')
      for (const [sql, plan] of found) assert.match(plan, index, `${sql}\n${plan}`)
    })
  }
  await t.test('a slice of a list without a sort of all that matches', () => {
    // Groups are counted before the largest are known.
    const lists = [...plans].filter(
      ([sql]) => /LIMIT \$\d+(::bigint)?\)? ?(AS execution|$)/.test(sql.trim()) && !/GROUP BY/.test(sql),
    )
    assert.ok(lists.length > 50)
    for (const [sql, plan] of lists) {
      // The two halves of a device's list are merged, and a few rows may be sorted above a limit.
      const isMeant = /UNION ALL|FOR UPDATE|ORDER BY execution\.finished_at DESC/.test(sql)
      const sorted = /Sort\b(?!.*\n.*Limit)/.test(plan) && !isMeant
      assert.ok(!sorted, `${sql}\n${plan}`)
    }
  })
})
