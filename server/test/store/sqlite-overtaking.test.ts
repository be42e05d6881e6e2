// Others are served between the batches of a large trigger.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { serveQuestions, type WriterThread } from '../../src/store/sqlite/database-thread.ts'
import type { LargeRun } from '../../src/store/sqlite/draft-writer.ts'
import { writeLargeRun } from '../../src/store/sqlite/large-run.ts'
import { prepareWrites } from '../../src/store/sqlite/operations.ts'
import { packTriggers } from '../../src/store/sqlite/trigger-message.ts'
import type { Answered } from './die-between-batches.ts'
import { openSqlite } from './sqlite-under-test.ts'
import {
  allExecutions,
  assertRunsAddUp,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  olderThan,
  readQueue,
  runOf,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const deviceIds = Array.from({ length: 8000 }, (_, n) => `d${String(n).padStart(5, '0')}`)

/**
 * Asks a writer in this thread all of it before it has begun: the order of the answers is that of the commits. What is
 * unfinished it is asked for again, and what has failed is dropped, as by writeLargeRun.
 */
async function askWriter(folder: string, questions: [name: string, input: unknown][]) {
  const { port1, port2 } = new MessageChannel()
  serveQuestions(port2, { role: 'writer', path: join(folder, 'jobcast.db') })
  const answers: { of: number; value: unknown }[] = []
  let unfinished = 0
  const dropped = questions.length
  port1.on('message', (answer: [number, unknown] | { id: number }) => {
    const [of, value] = Array.isArray(answer) ? answer : [answer.id, 'failed']
    if (of === dropped) return
    const { runId } = (questions[of]?.[1] ?? {}) as { runId?: number }
    if (isUnfinished(value)) {
      unfinished++
      port1.postMessage([of, 'continueRun', { runId }])
      return
    }
    answers.push({ of, value })
    if (value === 'failed') port1.postMessage([dropped, 'dropDraft', { runId }])
    if (answers.length === questions.length) port1.postMessage('close')
  })
  for (const [index, [name, input]] of questions.entries()) port1.postMessage([index, name, input])
  await once(port1, 'close')
  return { answers, unfinished }
}

const isUnfinished = (value: unknown) => (value as { kind?: string } | undefined)?.kind === 'unfinished'

function checked(ownerNo: number, runId: number, firstExecutionId: number, total: number): LargeRun {
  const deviceNos = Int32Array.from({ length: total }, (_, index) => index + 1)
  const clocks = { expireAt: null, deadlineAt: null }
  const run = {
    jobNo: 1,
    jobVersion: 1,
    launchedAt: startedAt,
    keyId: 'k1',
    retryOf: null,
    audit: '{}',
    ...clocks,
  }
  const { clock } = momentAt(startedAt)
  const ids = { runId, ownerNo, firstExecutionId, total, deviceNos }
  return { ...run, ...ids, idempotency: null, clock, actor: 'key k1' }
}

const key = (fill: number) => ({
  ...{ key: 'k', requestHash: new Uint8Array(32).fill(fill), ...keyTimes(startedAt) },
})

const packed = (trigger: LargeRun) => ['recordPacked', packTriggers([trigger])] as [string, unknown]

function readFile<T>(folder: string, sql: string): T[] {
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  const rows = db.prepare(sql).all() as T[]
  db.close()
  return rows
}

test('what waits is written between the batches of large ones, and all of each is there', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const { answers, unfinished } = await askWriter(folder, [
    ['writeRun', checked(ownerNo, 1, 1, 8000)],
    ['writeRun', checked(ownerNo, 2, 8001, 8000)],
    packed(checked(ownerNo, 4, 16_002, 1)),
    ['recordTriggers', [{ ...checked(ownerNo, 5, 16_003, 1), idempotency: key(1) }]],
    ['probeWrite', undefined],
    packed(checked(ownerNo, 3, 16_001, 1)),
  ])
  assert.deepEqual(
    answers.map(({ of }) => of),
    [2, 3, 4, 5, 0, 1],
  )
  // Large ones do not wait for each other.
  assert.equal(unfinished, 2)
  assert.deepEqual(readFile(folder, 'SELECT * FROM run_draft'), [])
  const events = readFile<{ id: number }>(
    folder,
    'SELECT run_id AS id FROM event WHERE run_id > 0 ORDER BY event_id',
  )
  assert.deepEqual(
    events.map(({ id }) => id),
    [4, 5, 3, 1, 2],
  )
  const opened = await reopen()
  await assertRunsAddUp(opened, ownerNo)
  assert.equal((await readQueue(opened, { ownerNo, deviceId: 'd00000' })).total, 5)
  // Its ids follow the highest, which was not the last one to be written.
  assert.equal((await createOne(opened, trigger(['d00000']))).firstExecutionId, 16_004)
})

test('a large trigger that fails after others were written leaves nothing but them', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON run WHEN NEW.run_id = 1
    BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  db.close()
  const { answers } = await askWriter(folder, [
    ['writeRun', checked(ownerNo, 1, 1, 8000)],
    packed(checked(ownerNo, 2, 8001, 1)),
  ])
  assert.deepEqual(answers, [
    { of: 1, value: undefined },
    { of: 0, value: 'failed' },
  ])
  assert.deepEqual(readFile(folder, 'SELECT * FROM run_draft'), [])
  await assertErased(await reopen(), folder, ownerNo, 1)
})

/** Of the runs only so many are left, and of a draft nothing after some purges. */
async function assertErased(store: Store, folder: string, ownerNo: number, runs: number): Promise<void> {
  await assertRunsAddUp(store, ownerNo)
  assert.deepEqual(readFile(folder, 'SELECT * FROM run_draft'), [])
  while (await store.purgeRuns(olderThan(startedAt - 1))) assert.ok(true)
  const seen = await allExecutions(store, ownerNo)
  assert.equal(new Set(seen.map(({ runId }) => runId)).size, runs)
  const [stored] = readFile<{ count: number }>(folder, 'SELECT count(*) AS count FROM execution')
  assert.equal(stored?.count, seen.length)
}

test('of two with one idempotency key, the small one that is written first has it, and nothing is left of the other', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const { answers } = await askWriter(folder, [
    ['writeRun', { ...checked(ownerNo, 1, 1, 8000), idempotency: key(1) }],
    ['recordTriggers', [{ ...checked(ownerNo, 2, 8001, 1), idempotency: key(2) }]],
    ['writeRun', { ...checked(ownerNo, 3, 8002, 8000), idempotency: key(2) }],
  ])
  assert.deepEqual(
    answers.map(({ of, value }) => [of, value]),
    [
      [1, [{ kind: 'created' }]],
      [2, { kind: 'made-before', runId: 2 }],
      [0, { kind: 'idempotency-key-reused' }],
    ],
  )
  assert.deepEqual(readFile(folder, 'SELECT * FROM run_draft'), [])
  await assertErased(await reopen(), folder, ownerNo, 1)
})

test('a device sees the small run at once, and the older large one when it is there', async (t) => {
  const { store } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  const device = { ownerNo, deviceId: 'd00007' }
  let hasOvertaken = false
  for (let round = 0; round < 50 && !hasOvertaken; round++) {
    let isMade = false
    const making = store.createExecutions([trigger(deviceIds)]).finally(() => {
      isMade = true
    })
    const smalls: number[] = []
    while (!isMade) {
      const { firstExecutionId: id } = await createOne(store, trigger([device.deviceId]))
      const { executions } = await readQueue(store, device)
      if (!isMade) assert.ok(executions.some(({ jobExecutionId }) => jobExecutionId === id))
      if (!isMade) smalls.push(id)
      const shown = executions.at(-1)
      if (shown) await store.moveExecution(endOf(ownerNo, shown.jobExecutionId))
    }
    const { firstExecutionId } = runOf((await making)[0])
    hasOvertaken = smalls.some((id) => id > firstExecutionId)
    const { executions } = await readQueue(store, device)
    const ids = executions.map(({ jobExecutionId }) => jobExecutionId)
    assert.ok(ids.includes(firstExecutionId + 7))
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    )
    for (const jobExecutionId of ids) await store.moveExecution(endOf(ownerNo, jobExecutionId))
    assert.equal((await readQueue(store, device)).total, 0)
  }
  assert.ok(hasOvertaken, 'none has ever overtaken')
  await assertRunsAddUp(store, ownerNo)
})

const endOf = (ownerNo: number, jobExecutionId: number) => ({
  ...{ ownerNo, jobExecutionId, event: 'cancel' as const, moment: momentAt(startedAt), actor: 'key k1' },
})

test('a device that is deleted and put again while a large trigger is written has nothing of it', async (t) => {
  const { store } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  const device = { ownerNo, deviceId: 'd07999' }
  let isBetween = false
  for (let round = 0; round < 50 && !isBetween; round++) {
    let isMade = false
    const making = store.createExecutions([trigger(deviceIds)]).finally(() => {
      isMade = true
    })
    // Its devices are looked up in slices before it is sent.
    for (let turns = 0; turns < 6; turns++) await new Promise((resolve) => setImmediate(resolve))
    await store.deleteDevice({ ...device, moment: momentAt(startedAt), actor: 'key k1' })
    const isDeletedFirst = !isMade
    await store.putDevices([devicePut(ownerNo, device.deviceId)])
    const [outcome] = await making
    if (outcome?.kind === 'unknown-device') continue
    isBetween = isDeletedFirst
    const run = await store.getRun({ ownerNo, runId: runOf(outcome).runId })
    assert.deepEqual([run?.counts.PENDING, run?.counts.CANCELED], [deviceIds.length - 1, 1])
    assert.equal((await readQueue(store, device)).total, 0)
  }
  assert.ok(isBetween, 'never deleted while it was written')
  await assertRunsAddUp(store, ownerNo)
})

test('a large trigger whose window is deleted between two batches is refused, and nothing is left of it', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2', 'd3'] })
  await store.close()
  const db = openDatabase(join(folder, 'jobcast.db'))
  const writes = prepareWrites(db, undefined, { hasWaiters: () => true, batchSize: 1 })
  const call = (name: keyof typeof writes, input: never) => writes[name](input)
  const refusals = [undefined, { kind: 'unknown-window' as const }]
  const run = checked(ownerNo, 1, 1, 3)
  const outcome = await writeLargeRun({ call } as unknown as WriterThread, run, () => refusals.shift())
  assert.deepEqual(outcome, { kind: 'unknown-window' })
  assert.equal(db.prepare('SELECT count(*) AS count FROM execution').get()?.count, 2)
  db.close()
  await assertErased(await reopen(), folder, ownerNo, 0)
})

test('killed between two batches, all that was answered is there, and nothing of the large one', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const triggers = JSON.stringify({ large: trigger(deviceIds), small: trigger(['d00007']) })
  const answered: Answered[] = []
  let drafts = 0
  for (let kills = 0; kills < 20 && drafts === 0; kills++) {
    answered.push(...(await runUntilKilled(folder, triggers)))
    drafts = readFile(folder, 'SELECT * FROM run_draft').length
  }
  assert.ok(drafts > 0, 'never killed between two batches')
  const opened = await reopen()
  for (const { runId, total } of answered) {
    assert.equal((await opened.getRun({ ownerNo, runId }))?.counts.PENDING, total)
  }
  const runs = readFile<{ total: number }>(folder, 'SELECT total FROM run')
  // One that was not answered may be there as well, but then as a whole.
  const [sum] = readFile<{ count: number }>(
    folder,
    `SELECT count(*) AS count FROM execution JOIN run USING (run_id)`,
  )
  assert.equal(
    sum?.count,
    runs.reduce((all, { total }) => all + total, 0),
  )
  const highest = Math.max(...answered.map(({ firstExecutionId }) => firstExecutionId))
  assert.ok((await createOne(opened, trigger(['d00007']))).firstExecutionId > highest)
  await assertErased(opened, folder, ownerNo, runs.length + 1)
})

async function runUntilKilled(folder: string, triggers: string): Promise<Answered[]> {
  const program = new URL('die-between-batches.ts', import.meta.url)
  const child = fork(program, [folder, triggers], { silent: true })
  let told = ''
  child.stdout?.on('data', (text) => {
    told += text
  })
  child.stderr?.pipe(process.stderr)
  const [, signal] = await once(child, 'close')
  assert.equal(signal, 'SIGKILL')
  const lines = told.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

test('what is looked up in slices is what is there when it is written', async (t) => {
  const { store } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  const twice = [...deviceIds, ...deviceIds.slice(0, 10)]

  const [ofTwice] = await Promise.all([
    store.createExecutions([trigger(twice)]),
    ...deviceIds.slice(0, 10).map((deviceId) => createOne(store, trigger([deviceId]))),
  ])
  assert.equal(runOf(ofTwice[0]).devices.length, deviceIds.length)

  const renaming = store.createExecutions([trigger(deviceIds)])
  await store.putDevices([{ ...devicePut(ownerNo, 'd00000'), deviceName: 'New' }])
  const run = runOf((await renaming)[0])
  const stored = await allExecutions(store, ownerNo, { runId: run.runId })
  assert.equal(run.devices.at(0)?.deviceName, stored.at(-1)?.deviceName)

  const launching = store.createExecutions([trigger(deviceIds)])
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const gone = { ownerNo, deviceId: 'd00000', moment: momentAt(startedAt), actor: 'key k1' }
  await Promise.all([store.deleteDevice(gone), launching])
  assert.equal((await launching)[0]?.kind, 'unknown-device')
})
