// Small triggers go between the bites of a large one.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { serveQuestions } from '../../src/store/sqlite/database-thread.ts'
import type { CheckedTrigger } from '../../src/store/sqlite/trigger-message.ts'
import { packTriggers } from '../../src/store/sqlite/trigger-message.ts'
import type { Answered } from './die-between-bites.ts'
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

/** Asks a writer in this thread all of it before it has begun: the order of the answers is that of the commits. */
async function askWriter(folder: string, questions: [name: string, input: unknown][]) {
  const { port1, port2 } = new MessageChannel()
  serveQuestions(port2, { role: 'writer', path: join(folder, 'jobcast.db') })
  const answers: { of: number; value: unknown }[] = []
  port1.on('message', (answer: [number, unknown] | { id: number }) => {
    const [of, value] = Array.isArray(answer) ? answer : [answer.id, 'failed']
    answers.push({ of, value })
  })
  for (const [index, [name, input]] of questions.entries()) port1.postMessage([index, name, input])
  port1.postMessage('close')
  await once(port1, 'close')
  return answers
}

function checked(ownerNo: number, runId: number, firstExecutionId: number, total: number): CheckedTrigger {
  const deviceNos = Int32Array.from({ length: total }, (_, index) => index + 1)
  const clocks = { expireAt: null, deadlineAt: null }
  const run = { jobNo: 1, jobVersion: 1, launchedAt: startedAt, keyId: 'k1', retryOf: null, ...clocks }
  return { ...run, runId, ownerNo, firstExecutionId, total, deviceNos, idempotency: null }
}

const key = (fill: number) => ({
  ...{ key: 'k', requestHash: new Uint8Array(32).fill(fill), ...keyTimes(startedAt) },
})

const usual = (trigger: CheckedTrigger) => ['recordUsual', packTriggers([trigger])] as [string, unknown]

function readFile<T>(folder: string, sql: string): T[] {
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  const rows = db.prepare(sql).all() as T[]
  db.close()
  return rows
}

test('small triggers are committed before large ones that were sent before, and all of each is there', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const answers = await askWriter(folder, [
    ['recordLarge', checked(ownerNo, 1, 1, 8000)],
    ['recordLarge', checked(ownerNo, 2, 8001, 8000)],
    usual(checked(ownerNo, 4, 16_002, 1)),
    ['recordTriggers', [{ ...checked(ownerNo, 5, 16_003, 1), idempotency: key(1) }]],
    ['probeWrite', undefined],
    // Nothing passes by what is no trigger.
    usual(checked(ownerNo, 3, 16_001, 1)),
  ])
  assert.deepEqual(
    answers.map(({ of }) => of),
    [2, 3, 0, 1, 4, 5],
  )
  assert.deepEqual(readFile(folder, 'SELECT * FROM run_draft'), [])
  const events = readFile<{ id: number }>(
    folder,
    'SELECT run_id AS id FROM event WHERE run_id > 0 ORDER BY event_id',
  )
  assert.deepEqual(
    events.map(({ id }) => id),
    [4, 5, 1, 2, 3],
  )
  const opened = await reopen()
  await assertRunsAddUp(opened, ownerNo)
  assert.equal((await readQueue(opened, { ownerNo, deviceId: 'd00000' })).total, 5)
  // Its ids follow the highest, which was not the last one to be written.
  assert.equal((await createOne(opened, trigger(['d00000']))).firstExecutionId, 16_004)
})

test('a large trigger that fails after small ones have overtaken it leaves nothing but them', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON run WHEN NEW.run_id = 1
    BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  db.close()
  const answers = await askWriter(folder, [
    ['recordLarge', checked(ownerNo, 1, 1, 8000)],
    usual(checked(ownerNo, 2, 8001, 1)),
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

test('of two with one idempotency key, the small one that overtakes has it, and nothing is left of the other', async (t) => {
  const { folder, store, reopen } = openSqlite(t)
  const { ownerNo } = await seedOwner(store, { devices: deviceIds })
  await store.close()
  const answers = await askWriter(folder, [
    ['recordLarge', { ...checked(ownerNo, 1, 1, 8000), idempotency: key(1) }],
    ['recordTriggers', [{ ...checked(ownerNo, 2, 8001, 1), idempotency: key(2) }]],
    ['recordLarge', { ...checked(ownerNo, 3, 8002, 8000), idempotency: key(2) }],
  ])
  assert.deepEqual(
    answers.map(({ of, value }) => [of, value]),
    [
      [1, [{ kind: 'created' }]],
      [0, { kind: 'idempotency-key-reused' }],
      [2, { kind: 'made-before', runId: 2 }],
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

test('killed between two bites, all that was answered is there, and nothing of the large one', async (t) => {
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
  assert.ok(drafts > 0, 'never killed between two bites')
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
  const program = new URL('die-between-bites.ts', import.meta.url)
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
