// How PostgreSQL finds the rows. Times on a small database tell nothing; plans do. Scans are switched off on our
// connections, so one that is in a plan all the same says that no index leads to the rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import pg from 'pg'
import { steadyInstant } from '../../src/domain/instants.ts'
import type { ExecutionFilter } from '../../src/domain/store.ts'
import { connectionOptions } from '../../src/store/postgres/connect.ts'
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { output, startNext, update } from './device-reports.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import { createOne, devicePut, momentAt, moveOf, seedOwner, startedAt } from './store-under-test.ts'
import { createWebhook, progressOf, resultOf } from './webhook-steps.ts'

const now = momentAt(startedAt)
const slice = { after: undefined, limit: 5 }

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

function* everyFilter(): Generator<ExecutionFilter> {
  for (let index = 0; index < 64; index++) {
    const has = (bit: number) => (index & (1 << bit)) !== 0
    const states: (ExecState | undefined)[] = has(0) ? [...execStates] : [undefined]
    for (const execState of states) {
      yield {
        ...(execState && { execState }),
        ...(has(1) && { jobName: 'restart' }),
        ...(has(2) && { deviceId: 'd1' }),
        ...(has(3) && { runId: 1 }),
        ...(has(4) && { launchedAfter: 1 }),
        ...(has(5) && { launchedBefore: startedAt + 1 }),
      }
    }
  }
}

/** Each step that the port has, so that each statement is seen. */
async function takeEveryStep(store: PostgresStore): Promise<void> {
  const { ownerNo, ownerId, trigger } = await seedOwner(store)
  const device = { ownerNo, deviceId: 'd1' }
  await store.checkHealth()
  await store.findOwner({ ownerId })
  await store.listOwners(slice)
  const key = { keyId: 'k', ownerNo, keyName: 'k', secretHash: new Uint8Array(32), createdAt: 1 }
  await store.createApiKey({ ...key, scopes: [], expiresAt: null })
  await store.findApiKey({ keyId: 'k' })
  await store.listApiKeys({ ownerNo, slice: { after: undefined, limit: 5 } })
  await store.recordKeyUse([{ keyId: 'k', at: 1 }])
  await store.revokeApiKey({ ownerNo, keyId: 'k', at: 1 })
  await store.getJob({ ownerNo, jobName: 'restart' })
  await store.listJobs({ ownerNo, slice })
  await store.deleteJob({ ownerNo, jobName: 'nobody', at: 1 })
  await store.putDevices([{ ...devicePut(ownerNo, 'd2', 'other'), tags: ['t'] }])
  await store.getDevice({ ownerNo, deviceId: 'd1' })
  for (const tag of ['t', undefined]) {
    for (const online of [true, false, undefined]) {
      await store.listDevices({
        ownerNo,
        filter: { ...(tag && { tag }), ...(online !== undefined && { online }) },
        slice,
      })
    }
  }
  await store.deleteDevice({ ownerNo, deviceId: 'd2', moment: now, actor: 'key k1' })
  const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
  await store.findEnrollment({ enrollmentId: enrollment.enrollmentId })
  await store.listEnrollments({ ownerNo, slice })
  await store.enrollDevice(enrolling(enrollment, 'new', { at: startedAt }))
  await store.revokeEnrollment({ ownerNo, enrollmentId: enrollment.enrollmentId, at: 1 })
  await store.findDeviceByToken({ tokenId: 'nobody' })
  await store.findDeviceByCertificate({ ownerName: ownerId, deviceId: 'd1' })
  await store.recordPresence([
    { ...device, online: true, at: 1, transport: 'mqtt', session: steadyInstant(1) },
  ])
  await store.setAllOffline({ at: 2 })
  const idempotency = { key: 'k', requestHash: new Uint8Array(32), validAfter: 0 }
  const { firstExecutionId: id, runId } = await createOne(store, trigger(['d1', 'd3'], { idempotency }))
  await store.createExecutions([trigger(['d1', 'd3'], { idempotency })])
  await store.recordReports([
    startNext(device),
    output(device, id, 0, 'text'),
    update(device, id, 'SUCCEEDED'),
  ])
  await store.moveExecution(moveOf(ownerNo, id + 1, 'cancel'))
  await store.moveRun({ ownerNo, runId, from: undefined, event: 'cancel', moment: now, actor: 'key k1' })
  await store.listTransitions({ ownerNo, jobExecutionId: id })
  await store.readQueues([device])
  await store.getDeviceExecution({ ...device, jobExecutionId: id })
  await store.recordDeliveries({ notified: [id], delivered: [id], at: 1 })
  const clocks = { expireAfterSeconds: 1, deadlineSeconds: 1 }
  const late = await seedOwner(store, { content: clocks })
  await createOne(store, late.trigger(['d1']))
  await store.fireClocks(momentAt(startedAt + 60_000))
  await store.readOutput({ ownerNo, jobExecutionId: id, offset: 0, limit: 9, attempt: undefined })
  await store.getRun({ ownerNo, runId })
  await store.listRuns({ ownerNo, filter: {}, slice })
  await store.listRuns({ ownerNo, filter: { jobName: 'restart' }, slice })
  await store.listUnsuccessful({ ownerNo, runId })
  for (const filter of everyFilter()) await store.listExecutions({ ownerNo, filter, slice })
  await store.listEvents({ ownerNo, filter: { deviceId: 'd1' }, slice: { after: 0, limit: 9 } })
  await store.getEvent({ ownerNo, eventId: 1 })
  await store.findEventBefore({ ownerNo, at: startedAt })
  const webhook = await createWebhook(store, ownerNo)
  await store.listWebhooks({ ownerNo, slice })
  await store.pauseWebhook({ ...webhook, at: 1 })
  await store.resumeWebhook({ ...webhook, at: 1 })
  await store.recordAttempts([progressOf(webhook, { results: [resultOf(1, 'PENDING')] })])
  for (const state of ['PENDING', 'DELIVERED', 'FAILED', undefined] as const) {
    await store.listDeliveries({ ...webhook, state, slice })
  }
  const replay = { eventId: 1, type: 'device.created', subject: 's', matches: true, at: 1 }
  await store.replayDelivery({ webhookNo: webhook.webhookNo, ...replay })
  await store.replayWebhook({ ...webhook, after: 0, at: 1 })
  await store.listActiveWebhooks()
  await store.getActiveWebhook({ webhookNo: webhook.webhookNo })
  await store.listPendingDeliveries({ webhookNo: webhook.webhookNo, slice })
  await store.listTried({ webhookNo: webhook.webhookNo, round: 1, from: 0, to: 9 })
  await store.purgeDeliveries()
  await takeStepsAmongNodes(store, { ...device, at: 1 }, runId)
  await store.purgeEvents({ olderThan: 1 })
  await store.purgeIdempotencyKeys({ olderThan: 1 })
  while (await store.purgeRuns({ endedBefore: startedAt + 1 }));
}

async function takeStepsAmongNodes(
  { nodes }: PostgresStore,
  device: { ownerNo: number; deviceId: string; at: number },
  runId: number,
): Promise<void> {
  await nodes.beat(undefined)
  await nodes.beat(steadyInstant(1))
  await nodes.forgetDeadNodes()
  await nodes.recordSeen([device])
  await nodes.findStaleSessions([{ ...device, since: steadyInstant(1), tokenId: null }])
  await nodes.getLaunchedRun(runId)
}

/** Those that have few rows, or that a statement means to read whole. */
const small =
  /^(owner|last_id|write_probe|webhook|node|steady_clock|execution_partition|forgotten_range|pg_inherits)$/

/** Few rows, or a partial index that holds just those. */
const readWhole =
  /^(owner_pkey|webhook_pkey|node_pkey|device_online|forgotten_range_pkey|execution_partition_pkey)$/

const indexOf: [string, RegExp, RegExp][] = [
  [
    'what waits for a device',
    /WITH queue AS MATERIALIZED/,
    /using execution_\w*device_no_execution_id_idx\w* on/,
  ],
  ['the next one of a device', /AS candidate/, /using execution_\w*device_no_execution_id_idx\w* on/],
  [
    'what has not ended on a device',
    /device_no = \$1 AND state <= 'CANCELING'/,
    /device_no_execution_id_idx/,
  ],
  ['what a clock has run out for', /WHERE due_at <= \$1/, /using execution_\w*due_at_idx on/],
  ['runs that expire', /expire_at <= \$1/, /using run_expiring on/],
  ['runs over their deadline', /deadline_at <= \$1/, /using run_deadline on/],
  [
    'an execution by its id',
    /WHERE execution_id = \$1 AND execution\.owner_no/,
    /using execution_\w*pkey on/,
  ],
  ['executions that are locked', /AS wanted \(id\)/, /using execution_\w*pkey on/],
  ['a key', /WHERE key_id = \$1/, /using api_key_pkey/],
  ['whose token it is', /WHERE token_id = \$1/, /using device_token_id_key/],
  ['devices that are online', /AND online ORDER BY/, /using device_online/],
  ['the history of an execution', /LEFT JOIN transition/, /using transition_pkey/],
  ['output from an offset on', /start >= coalesce/, /using output_pkey/],
  ['events from a place on', /event_id > \$2 ORDER BY event_id LIMIT/, /using event_pkey/],
  ['what is pending of a webhook', /event_id > \$2 AND state = 'PENDING'/, /using webhook_delivery_pending/],
  ['runs that have not ended', /NOT run\.ended/, /using run_unfinished|using run_pkey/],
  ['old idempotency keys', /created_at <= \$1/, /using idempotency_key_by_age/],
]

const server = await sharedPostgres()

test('no statement scans a table that grows, and an index made for it finds', async (t) => {
  const url = await createDatabase(server)
  const statements = recordStatements()
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
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
    const lists = [...plans].filter(([sql]) => /LIMIT \$\d+(::bigint)?\)? ?(AS execution|$)/.test(sql.trim()))
    assert.ok(lists.length > 50)
    for (const [sql, plan] of lists) {
      // The two halves of a device's list are merged, and a few rows may be sorted above a limit.
      const sorted = /Sort\b(?!.*\n.*Limit)/.test(plan) && !/UNION ALL/.test(sql) && !/FOR UPDATE/.test(sql)
      assert.ok(!sorted, `${sql}\n${plan}`)
    }
  })
})
