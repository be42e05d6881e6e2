// A database is moved from one store to the other: all data is equal there, and everything continues normally.

import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { StoredEvent } from '../../src/domain/event/event.ts'
import { exportStore, importStore, openStore, type StorePlace } from '../../src/store/open-store.ts'
import { leftBehind, transferTables } from '../../src/store/transfer/tables.ts'
import { TransferRefused } from '../../src/store/transfer/transfer.ts'
import { output, report, startNext, update } from './device-reports.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import { schedulePut } from './exercise-schedules.ts'
import { windowPut } from './exercise-windows.ts'
import { auditLines, auditSealer, verdictOf } from './sealed-audit.ts'
import {
  allExecutions,
  allRuns,
  answered,
  assertRunsAddUp,
  bringTo,
  by,
  createOne,
  devicePut,
  emptyContent,
  keyTimes,
  momentAt,
  moveOf,
  olderThan,
  readAll,
  readQueue,
  runOf,
  type Seed,
  seedOwner,
  startedAt,
  unknownMaker,
} from './store-under-test.ts'
import { createWebhook, progressOf, resultOf } from './webhook-steps.ts'

const server = await sharedPostgres()

const places = {
  SQLite: async (t: TestContext): Promise<StorePlace> => ({
    dataFolder: join(temporaryFolder(t), 'data'),
    databaseUrl: undefined,
  }),
  PostgreSQL: async (t: TestContext): Promise<StorePlace> => ({
    dataFolder: join(temporaryFolder(t), 'nothing'),
    databaseUrl: await createDatabase(server),
  }),
} as const

async function withStore<T>(place: StorePlace, work: (store: Store) => Promise<T>): Promise<T> {
  const { store } = await openStore(place, assert.ifError)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const hard = 'a\tb\\c "quoted" \u{1f680} \\N'
const idempotency = { key: 'once', requestHash: new Uint8Array(32).fill(5), ...keyTimes(startedAt) }

/** A run of which a part is released, with clocks, of a frozen fleet. */
async function fillRollout(store: Store): Promise<void> {
  const { ownerNo, trigger } = await seedOwner(store, {
    content: { expireAfterSeconds: 50, deadlineSeconds: 60 },
  })
  const plan = { jobVersion: null, rollout: { ratePerMinute: 7 }, approval: false, sizes: [1, 2] }
  const { runId } = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
  const found = await store.getRollout({ ownerNo, runId })
  assert.ok(found)
  const { rollout: before } = found
  const change = { before, status: { ...before.status, released: 1 }, nextAt: steadyInstant(9), events: [] }
  assert.ok(await store.changeRollout({ ...change, moment: momentAt(startedAt) }))
  await store.freezeFleet({
    ownerNo,
    reason: hard,
    principal: 'key:kept',
    ...momentAt(startedAt),
    until: null,
  })
  const put = schedulePut({ ownerNo })
  await store.putSchedule({ ...put, content: { ...put.content, description: hard } })
  const schedule = await store.getSchedule(put)
  assert.ok(schedule)
  const occurrence = { for: startedAt, principal: null, by: hard, since: steadyInstant(3) }
  assert.ok(await store.changeSchedule({ before: schedule, set: { occurrence, failures: 2 }, at: startedAt }))
  const { scheduleNo, scheduleName } = put
  const asked = {
    where: 'all',
    matched: 1,
    note: null,
    rollbackOf: null,
    scheduleNo,
    scheduleName,
    scheduledFor: startedAt,
  }
  const { firstExecutionId: first } = await createOne(store, trigger(['d1'], { request: asked }))
  await store.recordGiven({ scheduleNo, first, last: first })
  const [given] = await store.listAllGiven({ scheduleNo, after: -1, limit: 1 })
  const ended = { scheduleNo, deviceNos: [given?.deviceNo ?? 0], jobExecutionIds: [first] }
  await store.recordEnded({ ...ended, at: steadyInstant(startedAt), againAt: steadyInstant(startedAt + 60) })
}

/** A bit of everything. */
async function fill(store: Store): Promise<Seed> {
  await store.recordSteadyClock({ clock: steadyInstant(startedAt - 77), at: startedAt })
  const seed = await seedOwner(store, {
    jobs: ['restart', 'gone'],
    devices: ['d1', 'd2', 'd3', 'renamed', 'gone'],
  })
  const { ownerNo, trigger } = seed
  const secretHash = new Uint8Array(32).map((_, index) => index * 7)
  const key = { keyId: 'kept', ownerNo, keyName: hard, secretHash, createdAt: startedAt }
  await store.createApiKey({ ...unknownMaker, ...key, scopes: ['READ', 'TRIGGER'], expiresAt: startedAt + 9 })
  await store.createApiKey({ ...unknownMaker, ...key, keyId: 'revoked', scopes: [], expiresAt: null })
  await store.revokeApiKey({ ...by, withDescendants: false, ownerNo, keyId: 'revoked', at: startedAt + 1 })
  await store.recordKeyUse([{ keyId: 'kept', at: startedAt + 2 }])
  const old = await createOne(store, trigger(['d3'], { launchedAt: startedAt - 10 }))
  await store.moveExecution(moveOf(ownerNo, old.firstExecutionId, 'cancel', momentAt(startedAt - 9)))
  while (await store.purgeRuns(olderThan(startedAt - 1)));
  await createOne(store, trigger(['renamed', 'gone', 'd3'], { jobName: 'gone' }))
  const attributes = { site: hard, model: 2.5 }
  await store.putDevices([{ ...devicePut(ownerNo, 'renamed', hard), tags: ['t', 'ü'], attributes }])
  const file = { ownerNo, fileName: 'app', version: '1.4', ...by, at: startedAt, most: 9, mostBytes: 0 }
  await store.putFile({
    ...file,
    size: 2 ** 40,
    sha256: 'a'.repeat(64),
    sha1: null,
    md5: 'b'.repeat(32),
    url: null,
  })
  await store.recordAttributes([
    { device: { ownerNo, deviceId: 'd3' }, changes: { fw: '2.4.0' }, at: startedAt },
  ])
  const group = { groupName: 'kiosks', where: 'fw=2.4.0', description: hard }
  await store.putGroup({ ownerNo, ...group, ...by, at: startedAt, most: 9 })
  await store.putWindow({ ...windowPut(ownerNo, hard, 'Asia/Tokyo'), except: ['2026-12-24'] })
  await store.putDevices([
    { ...devicePut(ownerNo, 'renamed', hard), tags: ['t', 'ü'], attributes, window: hard },
  ])
  // Not swept: what is left to do is moved as well.
  const windowed = { groupName: 'windowed', where: 'tag=nothing', description: null, window: hard }
  await store.putGroup({ ownerNo, ...windowed, ...by, at: startedAt, most: 9 })
  const secret = { ownerNo, secretName: 'TOKEN', ...by, at: startedAt, most: 9, mostFormer: 9 }
  for (const sealed of ['v1', 'v2']) await store.putSecret({ ...secret, sealed })
  await auditSealer(store, () => startedAt).tick()
  await store.setBridgeCursor({ bridgeName: 'b1', ownerNo, eventId: 3 })
  await store.recordAttributes([
    { device: { ownerNo, deviceId: 'd3' }, changes: { timeZone: 'asia/tokyo' }, at: startedAt },
  ])
  await createOne(store, trigger(['d2', 'd3'], { window: hard }))
  await store.deleteDevice({ ownerNo, deviceId: 'gone', moment: momentAt(startedAt + 3), actor: 'key k1' })
  await store.deleteJob({ ownerNo, jobName: 'gone', at: startedAt + 3 })
  const retry = { max: 2, backoffSeconds: 30, on: ['FAILED' as const] }
  const content = { ...emptyContent, document: { text: `${hard}\n\u0000` }, timeoutSeconds: 60, retry }
  await store.putJob({ ownerNo, jobName: 'restart', content, at: startedAt + 4 })
  const tokenHash = new Uint8Array(32).fill(3)
  await store.setDeviceToken({
    ownerNo,
    deviceId: 'd1',
    token: { tokenId: 'token-1', tokenHash, at: startedAt, createdBy: 'key:kept' },
    at: startedAt,
  })
  await store.setDeviceToken({ ownerNo, deviceId: 'd2', token: null, at: startedAt })
  await store.recordPresence([
    {
      ownerNo,
      deviceId: 'd1',
      online: true,
      at: startedAt + 5,
      transport: 'mqtt',
      session: steadyInstant(1),
    },
  ])
  const enrollment = await store.createEnrollment(
    newEnrollment(ownerNo, { maxUses: 5, deviceIdPrefix: 'e-' }),
  )
  await store.enrollDevice(enrolling(enrollment, 'e-1', { claim: 4 }))
  const request = { where: 'all', matched: 3, note: hard, rollbackOf: 1 }
  const values = { parameters: { text: hard, list: [1, true] }, secrets: 'encrypted' }
  const run = await createOne(store, trigger(['d1', 'd2', 'renamed'], { idempotency, request, values }))
  const d1 = { ownerNo, deviceId: 'd1' }
  const [first, second] = [run.firstExecutionId, run.firstExecutionId + 1]
  await report(store, startNext(d1))
  await report(
    store,
    output(
      d1,
      first,
      0,
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
    ),
  )
  const part = { attempt: 1, pieces: 1, from: 256, received: 259 }
  const masked = { ...part, data: Buffer.from('***'), held: 'sealed' }
  await report(store, { ...output(d1, first, 256, 'abc'), masked })
  await report(store, output(d1, first, 256, 'x'.repeat(2000)))
  const statusDetails = { said: `${hard}\n\u0000` }
  await report(store, update(d1, first, 'IN_PROGRESS', { statusDetails, clientToken: `${hard}\u0000\n` }))
  await report(store, update(d1, first, 'FAILED', { statusDetails, result: JSON.stringify({ text: hard }) }))
  await report(store, output({ ...d1, deviceId: 'd2' }, second, 0, 'early'))
  await store.recordDeliveries({ notified: [second], delivered: [second], at: startedAt + 6 })
  const finished = await createOne(store, trigger(['d2', 'd3']))
  for (const [index, state] of (['SUCCEEDED', 'REJECTED'] as const).entries()) {
    await bringTo(store, ownerNo, finished.firstExecutionId + index, state)
  }
  await createOne(store, trigger(['d3'], { retryOf: finished.runId }))
  await fillRollout(store)
  const webhook = await createWebhook(store, ownerNo, 'w')
  await createOne(store, trigger(['d2']))
  const { newest } = await store.getEventBounds({ ownerNo })
  const results = [
    resultOf(newest, 'PENDING'),
    resultOf(newest - 1, 'DELIVERED'),
    resultOf(newest - 2, 'FAILED'),
  ]
  await store.recordAttempts([progressOf(webhook, { cursor: newest, results, lastDeliveredAt: startedAt })])
  await createWebhook(store, ownerNo, 'paused')
  await store.pauseWebhook({ ...by, ownerNo, webhookName: 'paused', at: startedAt + 7 })
  await store.setWebhookSecret({
    ...by,
    ownerNo,
    webhookName: 'paused',
    secret: 'whsec_2',
    oldSecretUntil: startedAt + 99,
    at: startedAt + 8,
  })
  // A number that was given and is free again must not be given twice.
  await createWebhook(store, ownerNo, 'deleted')
  await store.deleteWebhook({ ...by, at: startedAt, ownerNo, webhookName: 'deleted' })
  while (await store.purgeEvents({ olderThan: startedAt - 5, now: startedAt - 5 }));
  await seedOwner(store)
  return seed
}

async function allEvents(store: Store, ownerNo: number, after = 0): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (let place = after; ; ) {
    const look = await store.listEvents({ ownerNo, filter: {}, slice: { after: place, limit: 50 } })
    events.push(...look.events)
    place = look.upTo
    if (!look.more) return events
  }
}

/** All that can be read, of all owners. */
async function everything(store: Store) {
  const owners = await readAll((slice: Slice<number>) => store.listOwners(slice))
  return Promise.all(owners.map(async (owner) => ({ owner, ...(await ofOwner(store, owner.ownerNo)) })))
}

async function ofOwner(store: Store, ownerNo: number) {
  const executions = await allExecutions(store, ownerNo)
  const devices = await readAll((slice: Slice<string>) => store.listDevices({ ownerNo, filter: {}, slice }))
  const webhooks = await readAll((slice: Slice<string>) => store.listWebhooks({ ownerNo, slice }))
  const ofExecutions = executions.map(async ({ jobExecutionId: id, attempt, deviceId }) => {
    const read = async (which: number) => {
      const slice = await store.readOutput({
        ownerNo,
        jobExecutionId: id,
        offset: 0,
        limit: 1e6,
        attempt: which,
      })
      return slice && { ...slice, data: Buffer.from(slice.data).toString('hex') }
    }
    const [history, newest, first] = [
      await store.listTransitions({ ownerNo, jobExecutionId: id }),
      await read(attempt),
      await read(1),
    ]
    return {
      history,
      newest,
      first,
      own: await store.getDeviceExecution({ ownerNo, deviceId, jobExecutionId: id }),
    }
  })
  const audit = {
    sealed: await auditLines(store, ownerNo),
    all: await store.listAudit({ ownerNo, filter: {}, slice: { limit: 200 } }),
  }
  const ofWebhooks = webhooks.map(async (webhook) => ({
    deliveries: await readAll(async (slice: Slice<number>) => {
      const found = await store.listDeliveries({ ...webhook, state: undefined, slice })
      assert.ok(found)
      return found
    }),
    pending: await store.listPendingDeliveries({
      webhookNo: webhook.webhookNo,
      slice: { after: undefined, limit: 99 },
    }),
    active: await store.getActiveWebhook({ webhookNo: webhook.webhookNo }),
  }))
  const queues = devices.map(async ({ deviceId }) => {
    // A mark is the store's own.
    const { mark, ...queue } = await readQueue(store, { ownerNo, deviceId })
    return queue
  })
  return {
    executions,
    devices,
    webhooks,
    ofExecutions: await Promise.all(ofExecutions),
    ofWebhooks: await Promise.all(ofWebhooks),
    queues: await Promise.all(queues),
    audit,
    bridge: await store.getBridgeCursor({ bridgeName: 'b1', ownerNo }),
    runs: await allRuns(store, ownerNo),
    jobs: await readAll((slice: Slice<string>) => store.listJobs({ ownerNo, slice })),
    windows: await readAll((slice: Slice<string>) => store.listWindows({ ownerNo, slice })),
    secrets: await store.findAllValues({ ownerNo, secretNames: ['TOKEN'] }),
    files: await store.findFiles({ ownerNo, refs: ['app'] }),
    zones: await store.listZones({ ownerNo }),
    tagged: await readAll((slice: Slice<string>) =>
      store.listDevices({ ownerNo, filter: { tag: 'ü' }, slice }),
    ),
    online: await readAll((slice: Slice<string>) =>
      store.listDevices({ ownerNo, filter: { online: true }, slice }),
    ),
    keys: await readAll((slice: Slice<string>) => store.listApiKeys({ ownerNo, slice })),
    enrollments: await readAll((slice: Slice<string>) => store.listEnrollments({ ownerNo, slice })),
    clock: await store.getSteadyClock(),
    bounds: await store.getEventBounds({ ownerNo }),
    events: await allEvents(store, ownerNo),
  }
}

/** What was given before is good, and what is given now continues above it. */
async function assertGoesOn(
  store: Store,
  seed: Seed,
  before: Awaited<ReturnType<typeof everything>>,
): Promise<void> {
  const { ownerNo, ownerId, trigger } = seed
  const of = before.find(({ owner }) => owner.ownerNo === ownerNo)
  assert.ok(of)
  assert.equal((await store.findApiKey({ keyId: 'kept' }))?.expiresAt, startedAt + 9)
  assert.deepEqual(await store.findDeviceByToken({ tokenId: 'token-1' }), {
    ownerNo,
    deviceId: 'd1',
    tokenHash: new Uint8Array(32).fill(3),
  })
  assert.equal(await store.findDeviceByCertificate({ ownerName: ownerId, deviceId: 'd2' }), undefined)
  const [replayed] = await store.createExecutions([trigger(['d1', 'd2', 'renamed'], { idempotency })])
  assert.equal(replayed?.kind, 'replayed')
  const first = answered(runOf(replayed))
  assert.deepEqual(
    first.devices.map(({ deviceName }) => deviceName),
    ['name of d1', 'name of d2', hard],
  )
  const reused = { ...idempotency, requestHash: new Uint8Array(32) }
  const [other] = await store.createExecutions([trigger(['d1'], { idempotency: reused })])
  assert.equal(other?.kind, 'idempotency-key-reused')
  const run = await createOne(store, trigger(['d1', 'd2']))
  assert.ok(run.runId > Math.max(...of.runs.map(({ runId }) => runId)))
  assert.ok(run.firstExecutionId > Math.max(...of.executions.map(({ jobExecutionId }) => jobExecutionId)))
  const news = await allEvents(store, ownerNo, of.bounds.newest)
  assert.deepEqual(
    news.map(({ type, data }) => [type, 'runId' in data && data.runId]),
    [['run.created', run.runId]],
  )
  const highest = Math.max(...before.map(({ bounds }) => bounds.newest))
  assert.ok((news[0]?.eventId ?? 0) > highest)
  const known = Math.max(...of.webhooks.map(({ webhookNo }) => webhookNo))
  // That of the one that was deleted is not given again.
  assert.ok((await createWebhook(store, ownerNo, 'new')).webhookNo > known + 1)
  await seedOwner(store)
  const id = of.executions.find(({ execState, deviceId }) => execState === 'PENDING' && deviceId === 'd2')
  assert.equal((await store.moveExecution(moveOf(ownerNo, id?.jobExecutionId ?? 0, 'cancel'))).kind, 'moved')
  await assertRunsAddUp(store, ownerNo)
  // The next seal continues the chain.
  await auditSealer(store, () => startedAt + 1000).tick()
  const lines = await auditLines(store, ownerNo)
  assert.deepEqual(lines.slice(0, of.audit.sealed.length), of.audit.sealed)
  assert.ok(lines.length > of.audit.sealed.length)
  assert.equal((await verdictOf(store, ownerNo, lines)).kind, 'fits')
  // A retry that waited continues waiting, and then comes.
  const rested = await store.fireClocks(momentAt(startedAt + 60_000))
  assert.ok(rested.moved.some(({ deviceId }) => deviceId === 'd1'))
}

for (const [from, to, tested] of [
  ['SQLite', 'PostgreSQL', test],
  ['PostgreSQL', 'SQLite', test],
  ['SQLite', 'SQLite', chaosTest],
  ['PostgreSQL', 'PostgreSQL', chaosTest],
] as const) {
  tested(`from ${from} to ${to}: everything reads the same, and continues`, async (t: TestContext) => {
    const [source, target] = [await places[from](t), await places[to](t)]
    const file = join(temporaryFolder(t), 'move.jsonl.gz')
    const seed = await withStore(source, fill)
    const before = await withStore(source, everything)
    const exported = await exportStore(source, file, '0.0.0')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(await importStore(target, file), exported)
    for (const { name } of transferTables)
      assert.ok((exported[name] ?? 0) > 0, `nothing of ${name} was moved`)
    await withStore(target, async (store) => {
      assert.deepEqual(await everything(store), before)
      await assertGoesOn(store, seed, before)
    })
    // What was moved can be moved again.
    await exportStore(target, `${file}.again`, '0.0.0')
  })
}

test('an export beside a running service is of one instant', async (t) => {
  for (const place of [await places.SQLite(t), await places.PostgreSQL(t)]) {
    const file = join(temporaryFolder(t), 'move.jsonl.gz')
    await withStore(place, async (store) => {
      const { ownerNo, trigger } = await seedOwner(store)
      let isOver = false
      const triggering = (async () => {
        while (!isOver) {
          const run = await createOne(store, trigger(['d1', 'd2', 'd3']))
          await store.moveExecution(moveOf(ownerNo, run.firstExecutionId, 'cancel'))
        }
      })()
      for (let runs = 0; runs < 20; runs = (await allRuns(store, ownerNo)).length);
      const counts = await exportStore(place, file, '0.0.0')
      isOver = true
      await triggering
      assert.equal(counts.execution, (counts.run ?? 0) * 3)
      const copy = await places.SQLite(t)
      await importStore(copy, file)
      await withStore(copy, (moved) => assertRunsAddUp(moved, ownerNo))
    })
  }
})

async function refusalOf(place: StorePlace, file: string): Promise<string> {
  const failure = await importStore(place, file).then(
    () => assert.fail('it was imported'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof TransferRefused, String(failure))
  return failure.message
}

test('a file that is cut short, foreign, newer or damaged is refused with a sentence, and nothing is kept of it', async (t) => {
  const folder = temporaryFolder(t)
  const good = join(folder, 'good.gz')
  const source = await places.SQLite(t)
  await withStore(source, fill)
  await exportStore(source, good, '0.0.0')
  const bytes = readFileSync(good)
  const lines = gunzipSync(bytes).toString().trimEnd().split('\n')
  const packed = (edit: (lines: string[]) => string[]) =>
    gzipSync(
      edit([...lines])
        .map((line) => `${line}\n`)
        .join(''),
    )
  const head = JSON.parse(lines[0] ?? '')
  const isRow = (line: string) => line.startsWith('[')
  const cases: [string, Buffer, RegExp][] = [
    ['cut', bytes.subarray(0, bytes.length / 2), /is cut short/],
    ['cut and packed', packed((all) => all.slice(0, -1)), /is damaged or truncated/],
    ['empty', Buffer.alloc(0), /is (cut short|not an export)/],
    ['foreign', Buffer.from('some text'), /is not an export of Jobcast/],
    ['foreign and packed', gzipSync('{"some":"text"}\n'), /is not an export of Jobcast/],
    [
      'newer',
      packed((all) => [JSON.stringify({ ...head, format: 99 }), ...all.slice(1)]),
      /has format 99, .* newer/,
    ],
    [
      'unreleased',
      packed((all) => [JSON.stringify({ ...head, format: 1 }), ...all.slice(1)]),
      /was written by an unreleased version/,
    ],
    ['one row less', packed((all) => all.toSpliced(all.findIndex(isRow), 1)), /rows|damaged/],
    [
      'unknown table',
      packed((all) => all.toSpliced(1, 0, '{"table":"x","columns":[]}')),
      /the table "x".*newer/,
    ],
    ['short row', packed((all) => all.with(all.findIndex(isRow), '[1]')), /row of another length/],
    ['continues', packed((all) => [...all, '[1]']), /has data after its end/],
  ]
  for (const target of [await places.SQLite(t), await places.PostgreSQL(t)]) {
    for (const [title, content, sentence] of cases) {
      const file = join(folder, 'bad.gz')
      writeFileSync(file, content)
      assert.match(await refusalOf(target, file), sentence, title)
    }
    // As empty as it was before.
    await importStore(target, good)
    assert.match(await refusalOf(target, good), /is not empty: owner has rows/)
  }
})

test('a database with something in it is refused', async (t) => {
  const file = join(temporaryFolder(t), 'move.gz')
  const source = await places.SQLite(t)
  await withStore(source, seedOwner)
  await exportStore(source, file, '0.0.0')
  await assert.rejects(exportStore(source, file, '0.0.0'), { code: 'EEXIST' })
  for (const target of [await places.SQLite(t), await places.PostgreSQL(t)]) {
    const before = await withStore(target, async (store) => {
      await seedOwner(store)
      return everything(store)
    })
    assert.match(await refusalOf(target, file), /is not empty/)
    assert.deepEqual(await withStore(target, everything), before)
  }
})

test('each table and column of both stores is moved, or is named with the reason why not', async (t) => {
  const columns = Object.fromEntries(
    transferTables.map(({ name, columns }) => [name, Object.keys(columns).sort()]),
  )
  const place = await places.SQLite(t)
  await withStore(place, async () => undefined)
  const db = new DatabaseSync(join(place.dataFolder, 'jobcast.db'), { readOnly: true })
  const inSqlite = db
    .prepare(
      `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
    )
    .all()
  db.close()
  const inPostgres = await execute(
    await createDatabase(server),
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name NOT LIKE 'execution_from_%'`,
  )
  // Derived, or of no use once ids continue above the old ones.
  const own = {
    SQLite: [],
    PostgreSQL: ['owner.renamed_execution_id', 'device.node_no', 'device.session_since'],
  }
  const derived = { SQLite: ['run.ended'], PostgreSQL: [] }
  for (const [store, rows] of Object.entries({ SQLite: inSqlite, PostgreSQL: inPostgres })) {
    const found = rows.map((row) => `${row.table}.${row.column}`)
    const moved = Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`))
    const isLeft = (each: string) => Object.hasOwn(leftBehind, each.split('.')[0] ?? '')
    const expected = [...moved, ...own[store as keyof typeof own]].filter(
      (each) => !(derived[store as keyof typeof derived] as string[]).includes(each),
    )
    assert.deepEqual(found.filter((each) => !isLeft(each)).sort(), expected.sort(), store)
  }
})
