// How SQLite finds the rows. Times on a small database tell nothing; plans do.

import assert from 'node:assert/strict'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import type { ExecutionFilter } from '../../src/domain/store.ts'
import { loadCatalogue } from '../../src/store/sqlite/catalogue.ts'
import { migrateDatabase } from '../../src/store/sqlite/database.ts'
import { prepareReads, prepareWrites } from '../../src/store/sqlite/operations.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'

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

function* everyFilter(): Generator<ExecutionFilter> {
  for (let index = 0; index < 64; index++) {
    const has = (bit: number) => (index & (1 << bit)) !== 0
    const states: (ExecState | undefined)[] = has(0) ? [...execStates] : [undefined]
    for (const execState of states) {
      yield {
        ...(execState && { execState }),
        ...(has(1) && { jobName: 'j' }),
        ...(has(2) && { deviceId: 'd' }),
        ...(has(3) && { runId: 1 }),
        ...(has(4) && { launchedAfter: 1 }),
        ...(has(5) && { launchedBefore: 1 }),
      }
    }
  }
}

function planOf(db: RecordingDatabase, list: (reads: ReturnType<typeof prepareReads>) => unknown): string {
  const reads = prepareReads(db)
  db.statements.clear()
  list(reads)
  return db
    .takePlans()
    .flatMap(({ plan }) => plan)
    .join('\n')
}

/** Read once, at start, or only as far as a partial index goes. */
const meantToScan = [
  'SELECT owner_no, device_no, device_id, device_name FROM device WHERE deleted_at IS NULL',
  'SELECT owner_no, device_no, door FROM device WHERE online = 1',
  'UPDATE device SET online = 0, presence_since = ? WHERE online = 1',
]

test('no statement scans a table that grows, or sorts what an index has in order', (t) => {
  const db = openRecording(t)
  prepareWrites(db)
  const reads = prepareReads(db)
  for (const filter of everyFilter()) {
    const waiting = { ids: [1], complete: true }
    reads.listExecutions({ ownerNo: 1, filter, before: 9, limit: 1, waiting })
  }
  const slice = { after: undefined, limit: 1 }
  for (const jobName of ['j', undefined]) {
    for (const finished of [true, false, undefined]) reads.listRuns({ ownerNo: 1, jobName, finished, slice })
  }
  for (const tag of ['t', undefined]) {
    for (const online of [true, false, undefined]) reads.listDevices({ ownerNo: 1, tag, online, slice })
  }
  const plans = db.takePlans()
  assert.ok(plans.length > 100, `only ${plans.length} statements were seen`)
  const grows =
    /SCAN (execution|run|idempotency_key|device|device_\w+|transition|output|enrollment|event|webhook_delivery|session)\b|TEMP B-TREE/
  for (const { sql, plan } of plans) {
    if (!meantToScan.includes(sql)) for (const detail of plan) assert.doesNotMatch(detail, grows, sql)
  }
})

const indexOf: [string, RegExp, string][] = [
  ['what is under way on a device', /device_no = \? AND state IN/, 'execution_active (device_no=?)'],
  ['what a clock has run out for', /WHERE due_at <= \?/, 'execution_due (due_at<?)'],
  ['runs that expire', /expire_at <= \? AND pending > 0/, 'run_expiring (expire_at>? AND expire_at<?)'],
  ['runs over their deadline', /deadline_at <= \?/, 'run_deadline (deadline_at>? AND deadline_at<?)'],
  [
    'what has not ended of a run',
    /BETWEEN \? AND \? AND state IN/,
    'INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
  ],
  ['the history of an execution', /SELECT .* FROM transition/, 'PRIMARY KEY (execution_id=?)'],
  ['the history of forgotten executions', /DELETE FROM transition/, '(execution_id>? AND execution_id<?)'],
  ['output from an offset on', /start >= coalesce/, '(execution_id=? AND attempt=? AND start>?)'],
  ['how long output is', /start \+ length/, '(execution_id=? AND attempt=?)'],
  ['devices that are online', /AND online = 1/, 'device_online (owner_no=? AND device_id>?)'],
  ['who was online before', /online = 0, presence_since = \? WHERE/, 'device_online'],
  ['whose token it is', /WHERE token_id = \?/, '(token_id=?)'],
  ['whose certificate it is', /revoked_at IS NULL$/, '(owner_no=? AND device_id=?)'],
  ['enrolments of an owner', /FROM enrollment WHERE owner_no = \?/, '(owner_no=? AND enrollment_id>?)'],
  ['events from a place on', /event_id > \? ORDER BY event_id LIMIT/, '(owner_no=? AND event_id>?)'],
  [
    'what was sent to a webhook',
    /webhook_delivery\s+WHERE webhook_no = \? AND event_id < \?/,
    '(webhook_no=? AND event_id<?)',
  ],
  [
    'what is pending of a webhook',
    /webhook_delivery_pending WHERE webhook_no = \? AND event_id > \?/,
    'webhook_delivery_pending (webhook_no=? AND event_id>?)',
  ],
  [
    'the pending and failed ones to show',
    /webhook_delivery_\w+ WHERE webhook_no = \? AND event_id < \?/,
    '(webhook_no=? AND event_id<?)',
  ],
  ['what to try at once', /SET next_at = :at/, 'webhook_delivery_pending (webhook_no=?)'],
  ['what a webhook has tried', /BETWEEN :from AND :to\s+AND round/, 'AND event_id>? AND event_id<?)'],
  ['the oldest events', /FROM event WHERE owner_no = \? ORDER BY/, '(owner_no=?)'],
  ['sessions that have expired', /FROM session WHERE expires_at/, 'session_by_expiry (expires_at<?)'],
  ['who is online of a fleet', /count\(\*\) AS online/, 'device_online (owner_no=?)'],
  ['how much waits and runs', /sum\(pending\)/, 'run_unfinished (owner_no=?)'],
  ['the last execution of each device', /AS last ON/, '(owner_no=? AND device_id>?)'],
  ['what was handed over', /SET notified_at = :at/, 'INTEGER PRIMARY KEY (rowid=?)'],
]
for (const [title, pattern, index] of indexOf) {
  test(`an index made for it finds ${title}`, (t) => {
    const db = openRecording(t)
    prepareWrites(db)
    prepareReads(db)
    const found = db.takePlans().filter(({ sql }) => pattern.test(sql))
    assert.ok(found.length > 0, 'no statement is like this')
    for (const { sql, plan } of found) assert.ok(plan[0]?.endsWith(index), `${plan[0]}\n${sql}`)
  })
}

test('a later slice of a list starts where it left off', (t) => {
  const db = openRecording(t)
  const list = (filter: ExecutionFilter) =>
    planOf(db, (reads) =>
      reads.listExecutions({ ownerNo: 1, filter, before: 9, limit: 1, waiting: { ids: [], complete: true } }),
    )
  assert.match(list({}), /run USING INDEX run_by_owner \(owner_no=\? AND run_id<\?\)/)
  assert.match(list({ jobName: 'j' }), /run USING INDEX run_by_job \(job_no=\? AND run_id<\?\)/)
  assert.match(
    list({ deviceId: 'd' }),
    /execution USING INDEX execution_by_device \(device_no=\? AND execution_id<\?\)/,
  )
  assert.match(
    list({ execState: 'FAILED' }),
    /execution USING INDEX execution_by_state \(owner_no=\? AND state=\? AND execution_id<\?\)/,
  )
})

test('what is pending is found without a look at runs that have ended', (t) => {
  const db = openRecording(t)
  const filter = { execState: 'PENDING' } as const
  const waiting = { ids: [], complete: true }
  const plan = planOf(db, (reads) =>
    reads.listExecutions({ ownerNo: 1, filter, before: 9, limit: 1, waiting }),
  )
  assert.match(plan, /run USING INDEX run_unfinished \(owner_no=\? AND run_id<\?\)/)
  db.statements.clear()
  loadCatalogue(db)
  const atStart = db.takePlans().flatMap((each) => each.plan)
  assert.ok(atStart.includes('SEARCH run USING INDEX run_unfinished (owner_no=? AND run_id>? AND run_id<?)'))
  assert.ok(!atStart.some((detail) => /SCAN (run|execution)|TEMP B-TREE/.test(detail)), atStart.join('\n'))
})

test('the last execution of a device is found by its index, and unfinished runs of a job without a look at the others', (t) => {
  const db = openRecording(t)
  const slice = { after: undefined, limit: 1 }
  prepareReads(db)
  const [fleet] = db.takePlans().filter(({ sql }) => sql.includes('AS last ON'))
  assert.match(fleet?.plan.join('\n') ?? '', /execution USING .*INDEX execution_by_device \(device_no=\?\)/)
  const runs = planOf(db, (reads) => reads.listRuns({ ownerNo: 1, jobName: 'j', finished: false, slice }))
  assert.match(runs, /run USING INDEX run_unfinished \(owner_no=\? AND run_id<\?\)/)
})
