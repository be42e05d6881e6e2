// How SQLite finds the rows. Times on a small database tell nothing; plans do.

import assert from 'node:assert/strict'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { ExecutionFilter } from '../../src/domain/execution/ports/executions.ts'
import { loadCatalogue } from '../../src/store/sqlite/catalogue.ts'
import { migrateDatabase } from '../../src/store/sqlite/database.ts'
import type { Thread } from '../../src/store/sqlite/database-thread.ts'
import { prepareReads, prepareWrites, type Reads, type Writes } from '../../src/store/sqlite/operations.ts'
import { buildSqliteStore, sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'
import { readLastIds } from '../../src/store/sqlite/triggers.ts'
import { nobody } from '../../src/store/sqlite/writes.ts'
import { takeEveryStep } from './every-step.ts'

/** Remembers every statement that is prepared on it. */
class RecordingDatabase extends DatabaseSync {
  readonly statements = new Set<string>()

  override prepare(sql: string): StatementSync {
    this.statements?.add(sql)
    return super.prepare(sql)
  }

  /** The plans of the statements since the last call. */
  takePlans(): { sql: string; plan: string[] }[] {
    const statements = [...this.statements].filter((sql) => !sql.startsWith('PRAGMA'))
    this.statements.clear()
    return statements.map((sql) => {
      const rows = super.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      return { sql, plan: rows.map((row) => String(row.detail)) }
    })
  }
}

function openRecording(t: TestContext): RecordingDatabase {
  const db = new RecordingDatabase(':memory:')
  t.after(() => db.close())
  migrateDatabase(db, sqliteMigrations())
  db.statements.clear()
  return db
}

/** One connection, asked as the threads are: one question after the other. */
function openThread<Ops extends Reads | Writes>(operations: Ops): Thread<Ops> {
  let last: Promise<unknown> = Promise.resolve()
  const call = (name: keyof Ops, input: never) => {
    const answered = last.then(() => (operations[name] as (input: never) => unknown)(input))
    last = answered.catch(() => undefined)
    return answered
  }
  return { call: call as Thread<Ops>['call'], close: async () => undefined, listener: nobody }
}

function openStore(db: RecordingDatabase): Store {
  const writes = prepareWrites(db, {
    onEvents: () => undefined,
    onMoved: (moves) => writer.listener.onMoved(moves),
    onZones: (changes) => writer.listener.onZones(changes),
  })
  const writer = openThread(writes)
  return buildSqliteStore({
    catalogue: loadCatalogue(db),
    lastIds: readLastIds(db),
    writer,
    reader: openThread(prepareReads(db)),
    onClosed: () => undefined,
  })
}

/** Of all that the store asks. */
async function planOfEveryStep(t: TestContext): Promise<{ sql: string; plan: string[] }[]> {
  const db = openRecording(t)
  await takeEveryStep(openStore(db))
  return db.takePlans()
}

async function planOf(db: RecordingDatabase, ask: (store: Store) => Promise<unknown>): Promise<string> {
  const store = openStore(db)
  db.statements.clear()
  await ask(store)
  return db
    .takePlans()
    .flatMap(({ plan }) => plan)
    .join('\n')
}

/** Read once, at start, or only as far as a partial index goes. */
const meantToScan = [
  /min\(CASE WHEN pending > 0/,
  /FROM device WHERE deleted_at IS NULL$/,
  /FROM device WHERE online = 1$/,
  /FROM device_attribute INDEXED BY device_attribute_by_zone WHERE zone IS NOT NULL AND shadowed = 0$/,
  /FROM device_attribute INDEXED BY device_attribute_without_zone/,
  /FROM device_window INDEXED BY device_window_current WHERE until_clock IS NULL$/,
  /UPDATE device SET online = 0, presence_since = \? WHERE online = 1$/,
]
/** Groups of what was read, or the last few that ended of one run, once each time it pauses. */
const meantToSort =
  /ORDER BY execution\.finished_at DESC|GROUP BY run\.run_id, execution\.state$|GROUP BY 1, 2(, 3)?$|count\(\*\)\) OVER \(\)|WITH compared AS|GROUP BY sort_key$|PARTITION BY used\.value|ORDER BY CASE WHEN replaced_at IS NULL/

test('no statement scans a table that grows, or sorts what an index has in order', async (t) => {
  const plans = await planOfEveryStep(t)
  assert.ok(plans.length > 150, `only ${plans.length} statements were seen`)
  const scan =
    /SCAN (execution|run|idempotency_key|device|device_\w+|transition|output|enrollment|event|webhook_delivery|session)\b/
  for (const { sql, plan } of plans) {
    for (const detail of plan) {
      if (!meantToScan.some((meant) => meant.test(sql))) assert.doesNotMatch(detail, scan, sql)
      if (!meantToSort.test(sql)) assert.doesNotMatch(detail, /TEMP B-TREE/, sql)
    }
  }
})

const indexOf: [string, RegExp, string][] = [
  ['what is in progress on a device', /device_no = \? AND state IN/, 'execution_active (device_no=?)'],
  ['what a clock has run out for', /WHERE due_at <= \?/, 'execution_due (due_at<?)'],
  ['runs that expire', /expire_at <= \? AND pending > 0/, 'run_expiring (expire_at>? AND expire_at<?)'],
  ['runs over their deadline', /deadline_at <= \?/, 'run_deadline (deadline_at>? AND deadline_at<?)'],
  [
    'what has not ended of a run',
    /BETWEEN \? AND \? AND state IN/,
    'INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
  ],
  ['the history of an execution', /LEFT JOIN api_key AS actor_key/, 'PRIMARY KEY (execution_id=?) LEFT-JOIN'],
  ['the history of purged executions', /DELETE FROM transition/, '(execution_id>? AND execution_id<?)'],
  ['output from an offset on', /start >= coalesce/, '(execution_id=? AND attempt=? AND start>? AND start<?)'],
  ['how long output is', /start \+ length/, '(execution_id=? AND attempt=?)'],
  ['devices that are online', /AND online = 1\s+ORDER BY/, 'device_online (owner_no=? AND device_id>?)'],
  ['who was online before', /online = 0, presence_since = \? WHERE/, 'device_online'],
  ['whose token it is', /WHERE token_id = \?/, '(token_id=?)'],
  ['whose certificate it is', /revoked_at IS NULL$/, '(owner_no=? AND device_id=?)'],
  [
    'enrollments of an owner',
    /FROM enrollment WHERE owner_no = \? AND enrollment_id/,
    '(owner_no=? AND enrollment_id>?)',
  ],
  ['events from one on', /event_id > \? ORDER BY event_id LIMIT/, '(owner_no=? AND event_id>?)'],
  [
    'what was sent to a webhook',
    /webhook_delivery\s+WHERE webhook_no = \? AND event_id < \?/,
    '(webhook_no=? AND event_id<?)',
  ],
  [
    'what is pending of a webhook',
    /webhook_delivery_pending\s+WHERE webhook_no = \? AND event_id > \?/,
    'webhook_delivery_pending (webhook_no=? AND event_id>?)',
  ],
  [
    'the pending and failed ones to show',
    /webhook_delivery_\w+\s+WHERE webhook_no = \? AND event_id < \?/,
    '(webhook_no=? AND event_id<?)',
  ],
  ['what to try at once', /SET next_at = \?/, 'webhook_delivery_pending (webhook_no=?)'],
  ['what a webhook has tried', /BETWEEN \? AND \?\s+AND round/, 'AND event_id>? AND event_id<?)'],
  ['the oldest events', /WITH oldest AS/, '(owner_no=? AND event_id<?)'],
  ['sessions that have expired', /FROM session WHERE expires_at/, 'session_by_expiry (expires_at<?)'],
  ['who is online of a fleet', /SELECT count\(\*\) FROM device/, 'device_online (owner_no=?)'],
  ['how much waits and runs', /sum\(pending\), 0\) AS waiting/, 'run_unfinished (owner_no=?)'],
  ['the last execution of each device', /AS last ON/, '(owner_no=? AND device_id>?)'],
  ['what was notified', /SET notified_at = \?/, 'INTEGER PRIMARY KEY (rowid=?)'],
  ['what was delivered', /SET delivered_at = \?/, 'INTEGER PRIMARY KEY (rowid=?)'],
]
test('no statement is prepared again because the number behind its LIMIT is bound', async (t) => {
  const plans = await planOfEveryStep(t)
  assert.ok(plans.some(({ sql }) => /LIMIT 0 \+ \?/.test(sql)))
  for (const { sql } of plans) assert.doesNotMatch(sql, /(LIMIT|OFFSET) \?/)
})

test('an index made for it finds', async (t) => {
  const plans = await planOfEveryStep(t)
  for (const [title, pattern, index] of indexOf) {
    await t.test(title, () => {
      const found = plans.filter(({ sql }) => pattern.test(sql))
      assert.ok(found.length > 0, 'no statement is like this')
      for (const { sql, plan } of found) {
        assert.ok(
          plan.some((detail) => detail.endsWith(index)),
          [...plan, sql].join('\n'),
        )
      }
    })
  }
})

const slice = { after: undefined, limit: 1 }

test('a later slice of a list starts where it left off', async (t) => {
  const db = openRecording(t)
  const list = (filter: ExecutionFilter) =>
    planOf(db, (store) => store.listExecutions({ ownerNo: 1, filter, slice: { after: 9, limit: 1 } }))
  assert.match(await list({}), /run USING INDEX run_by_owner \(owner_no=\? AND run_id<\?\)/)
  assert.match(await list({ jobName: 'j' }), /run USING INDEX run_by_job \(job_no=\? AND run_id<\?\)/)
  assert.match(
    await list({ deviceId: 'd' }),
    /execution USING INDEX execution_by_device \(device_no=\? AND execution_id<\?\)/,
  )
  assert.match(
    await list({ execStates: ['FAILED'] }),
    /execution USING INDEX execution_by_state \(owner_no=\? AND state=\? AND execution_id<\?\)/,
  )
})

test('pending executions are found without reading runs that have ended', async (t) => {
  const db = openRecording(t)
  const filter = { execStates: ['PENDING'] } as const
  const plan = await planOf(db, (store) => store.listExecutions({ ownerNo: 1, filter, slice }))
  assert.match(plan, /run USING INDEX run_unfinished \(owner_no=\? AND run_id<\?\)/)
  db.statements.clear()
  loadCatalogue(db)
  const atStart = db.takePlans().flatMap((each) => each.plan)
  assert.ok(atStart.includes('SEARCH run USING INDEX run_unfinished (owner_no=? AND run_id>? AND run_id<?)'))
  assert.ok(!atStart.some((detail) => /SCAN (run|execution)|TEMP B-TREE/.test(detail)), atStart.join('\n'))
})

test('the last execution of a device is found by its index, and unfinished runs of a job without reading the others', async (t) => {
  const db = openRecording(t)
  const fleet = await planOf(db, (store) => store.listFleetDevices({ ownerNo: 1, slice }))
  assert.match(fleet, /execution USING .*INDEX execution_by_device \(device_no=\?\)/)
  const filter = { jobName: 'j', finished: false }
  const runs = await planOf(db, (store) => store.listRuns({ ownerNo: 1, filter, slice }))
  assert.match(runs, /run USING INDEX run_unfinished \(owner_no=\? AND run_id<\?\)/)
})

test('runs of a schedule are found by its name', async (t) => {
  const db = openRecording(t)
  const filter = { scheduleName: 'nightly' }
  const runs = await planOf(db, (store) => store.listRuns({ ownerNo: 1, filter, slice }))
  assert.match(runs, /USING COVERING INDEX run_request_by_schedule_name \(schedule_name=\? AND run_id<\?\)/)
})

test('a file is found by its version, or as the newest, without reading its other versions', async (t) => {
  const db = openRecording(t)
  const named = await planOf(db, (store) => store.findFiles({ ownerNo: 1, refs: ['app@1'] }))
  assert.match(named, /SEARCH file_version USING PRIMARY KEY \(owner_no=\? AND file_name=\? AND version=\?\)/)
  const newest = await planOf(db, (store) => store.findFiles({ ownerNo: 1, refs: ['app'] }))
  assert.match(newest, /^SEARCH file_version USING INDEX file_version_order \(owner_no=\? AND file_name=\?\)/)
  assert.doesNotMatch(newest, /TEMP B-TREE/)
})
