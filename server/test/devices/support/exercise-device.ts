// The operations that every unmodified device client must support.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { type DeviceClient, type Json, type MqttDeviceClient, Refused } from './device-client.ts'
import { cancel, putJob, putWindow, readExecution, trigger } from './seed.ts'

type OpenedDevice<Client> = {
  api: Api
  deviceId: string
  client: Client
  /** Over HTTP the document is a text. */
  documentAs: 'object' | 'text'
}
type Open<Client> = (t: TestContext) => Promise<OpenedDevice<Client>>

const jobName = 'restart'
const document = { operation: 'restart', steps: [{ run: 'kiosk-app' }], 'wïth blanks 🚪': null }

/** On leap days, and all the time. */
const closed = { cron: '0 0 29 2 *', durationMinutes: 1, timeZone: 'UTC' }
const opened = { cron: '* * * * *', durationMinutes: 2, timeZone: 'UTC' }

/** For every client: requests and their answers. */
export function exerciseDevice(name: string, open: Open<DeviceClient>): void {
  test(`${name}: takes a triggered job to SUCCEEDED`, async (t) => {
    const { api, deviceId, client, documentAs } = await openWithJob(t, open)
    const jobId = await trigger(api, jobName, deviceId)

    const pending = await client.getPending()
    assert.deepEqual(idsOf(pending.queuedJobs), [jobId])
    assert.deepEqual(idsOf(pending.inProgressJobs), [])
    const offered = (await client.describe('$next', { includeJobDocument: true })).execution
    assert.deepEqual([offered.jobId, offered.status, offered.versionNumber], [jobId, 'QUEUED', 1])

    const { execution } = await client.startNext({ statusDetails: { step: 'download' } })
    assert.equal(execution.jobId, jobId)
    assert.equal(execution.thingName, deviceId)
    assert.equal(execution.status, 'IN_PROGRESS')
    assert.equal(execution.versionNumber, 2)
    assert.equal(execution.executionNumber, 1)
    assert.deepEqual({ ...execution.statusDetails }, { step: 'download' })
    const given = documentAs === 'text' ? JSON.parse(execution.jobDocument) : execution.jobDocument
    assert.deepEqual(given, document)
    assertNow(execution.queuedAt, execution.startedAt, execution.lastUpdatedAt)

    await client.update(jobId, { status: 'IN_PROGRESS', statusDetails: { step: 'install' } })
    const described = (await client.describe(jobId)).execution
    assert.deepEqual([described.versionNumber, described.statusDetails.step], [3, 'install'])
    const { executionState } = await client.update(jobId, {
      status: 'SUCCEEDED',
      expectedVersion: 3,
      includeJobExecutionState: true,
    })
    assert.deepEqual([executionState.status, executionState.versionNumber], ['SUCCEEDED', 4])
    assert.equal((await client.startNext()).execution, undefined)

    const seen = await readExecution(api, jobId)
    assert.equal(seen.execState, 'SUCCEEDED')
    assert.deepEqual(seen.statusDetails, { step: 'install' })
  })

  test(`${name}: reads VersionMismatch with the state as it is, and nothing has changed`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    const jobId = await trigger(api, jobName, deviceId)
    await client.startNext({ statusDetails: { step: 'one' } })
    const refusal = await refusalOf(client.update(jobId, { status: 'SUCCEEDED', expectedVersion: 1 }))
    assert.equal(refusal.code, 'VersionMismatch')
    const { executionState } = refusal.answer
    assert.deepEqual(executionState, {
      status: 'IN_PROGRESS',
      statusDetails: { step: 'one' },
      versionNumber: 2,
    })
    assert.equal((await readExecution(api, jobId)).execState, 'IN_PROGRESS')
    await client.update(jobId, { status: 'REJECTED', expectedVersion: executionState.versionNumber })
    assert.equal((await readExecution(api, jobId)).execState, 'REJECTED')
  })

  test(`${name}: reads ResourceNotFound for a job it does not have`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    const jobId = await trigger(api, jobName, deviceId)
    const unknown = String(Number(jobId) + 1_000_000)
    for (const other of [unknown, 'no-number']) {
      assert.equal((await refusalOf(client.describe(other))).code, 'ResourceNotFound')
      assert.equal((await refusalOf(client.update(other, { status: 'FAILED' }))).code, 'ResourceNotFound')
    }
    await client.update(jobId, { status: 'FAILED' })
  })

  test(`${name}: reads TerminalStateReached and InvalidStateTransition for a finished one`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    const jobId = await trigger(api, jobName, deviceId)
    await client.startNext()
    await client.update(jobId, { status: 'FAILED', statusDetails: { reason: 'no-space' } })
    assert.equal((await refusalOf(client.describe(jobId))).code, 'TerminalStateReached')
    const refusal = await refusalOf(client.update(jobId, { status: 'IN_PROGRESS' }))
    assert.equal(refusal.code, 'InvalidStateTransition')
    assert.deepEqual(refusal.answer.executionState, {
      status: 'FAILED',
      statusDetails: { reason: 'no-space' },
      versionNumber: 3,
    })
    assert.equal((await readExecution(api, jobId)).execState, 'FAILED')
  })

  test(`${name}: obeys a window that it does not know of`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    await putWindow(api, deviceId, closed)
    await putJob(api, `nightly ${deviceId}`, { window: deviceId })
    const waiting = await trigger(api, `nightly ${deviceId}`, deviceId)
    assert.deepEqual(idsOf((await client.getPending()).queuedJobs), [])
    assert.equal((await client.describe('$next')).execution, undefined)
    assert.equal((await client.startNext()).execution, undefined)
    assert.equal((await refusalOf(client.describe(waiting))).code, 'ResourceNotFound')
    const refusal = await refusalOf(client.update(waiting, { status: 'IN_PROGRESS' }))
    assert.equal(refusal.code, 'ResourceNotFound')
    const plain = await trigger(api, jobName, deviceId)
    assert.deepEqual(idsOf((await client.getPending()).queuedJobs), [plain])
    assert.equal((await client.startNext()).execution.jobId, plain)
    await client.update(plain, { status: 'SUCCEEDED' })
    await putWindow(api, deviceId, opened)
    assert.equal((await client.startNext()).execution.jobId, waiting)
    await putWindow(api, deviceId, closed)
    await client.update(waiting, { status: 'IN_PROGRESS', statusDetails: { step: 'goes on' } })
    assert.deepEqual(idsOf((await client.getPending()).inProgressJobs), [waiting])
    await client.update(waiting, { status: 'SUCCEEDED' })
  })
}

/** For clients with a connection: notices. */
export function exerciseNotices(name: string, open: Open<MqttDeviceClient>): void {
  test(`${name}: is told of what waits for its window when that opens`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    const { notify, notifyNext } = client
    await putWindow(api, deviceId, closed)
    await putJob(api, `nightly ${deviceId}`, { window: deviceId })
    const waiting = await trigger(api, `nightly ${deviceId}`, deviceId)
    const plain = await trigger(api, jobName, deviceId)
    assert.equal((await notifyNext.take()).execution.jobId, plain)
    assert.deepEqual(jobsOf(await notify.take()), { QUEUED: [plain] })
    await putWindow(api, deviceId, opened)
    assert.equal((await notifyNext.take()).execution.jobId, waiting)
    assert.deepEqual(jobsOf(await notify.take()), { QUEUED: [waiting, plain] })
    for (const jobId of [waiting, plain]) await client.update(jobId, { status: 'SUCCEEDED' })
  })

  test(`${name}: is told of its next job, and at last that nothing is left`, async (t) => {
    const { api, deviceId, client } = await openWithJob(t, open)
    const { notify, notifyNext } = client

    const first = await trigger(api, jobName, deviceId)
    const { execution } = await notifyNext.take()
    assert.deepEqual([execution.jobId, execution.status], [first, 'QUEUED'])
    assert.deepEqual(execution.jobDocument, document)
    assert.deepEqual(jobsOf(await notify.take()), { QUEUED: [first] })

    const second = await trigger(api, jobName, deviceId)
    assert.deepEqual(jobsOf(await notify.take()), { QUEUED: [first, second] })

    assert.equal((await client.startNext()).execution.jobId, first)
    await client.update(first, { status: 'SUCCEEDED' })
    assert.equal((await notifyNext.take()).execution.jobId, second)
    assert.deepEqual(jobsOf(await notify.take()), { QUEUED: [second] })

    await client.update(second, { status: 'SUCCEEDED' })
    const last = await notifyNext.take()
    assert.deepEqual(Object.keys(last), ['timestamp'])
    assertNow(last.timestamp)
    assert.deepEqual(jobsOf(await notify.take()), {})
    assert.deepEqual([notify.takeAll(), notifyNext.takeAll()], [[], []])
  })

  for (const reported of ['CANCELED', 'FAILED'] as const) {
    test(`${name}: is told of a cancel, and ends it with ${reported}`, async (t) => {
      const { api, deviceId, client } = await openWithJob(t, open)
      const jobId = await trigger(api, jobName, deviceId)
      await client.startNext()
      assert.equal((await cancel(api, jobId)).execState, 'CANCELING')
      const told = await client.cancel.take()
      assert.equal(told.jobId, jobId)
      assert.deepEqual(Object.keys(told.message).sort(), ['deadlineSeconds', 'timestamp'])
      assert.ok(Number.isInteger(told.message.deadlineSeconds) && told.message.deadlineSeconds > 0)
      assertNow(told.message.timestamp)
      assert.equal((await client.describe(jobId)).execution.status, 'IN_PROGRESS')
      await client.update(jobId, { status: reported })
      assert.equal((await readExecution(api, jobId)).execState, reported)
    })
  }
}

async function openWithJob<Client>(t: TestContext, open: Open<Client>): Promise<OpenedDevice<Client>> {
  const opened = await open(t)
  await putJob(opened.api, jobName, { document })
  return opened
}

export async function refusalOf(answer: Promise<unknown>): Promise<Refused> {
  const outcome = await answer.catch((error: unknown) => error)
  if (outcome instanceof Refused) return outcome
  throw outcome instanceof Error ? outcome : new Error(`accepted: ${JSON.stringify(outcome)}`)
}

/** Ids by state, and the whole field: no other state, no empty list. */
export function jobsOf({ jobs }: Json): Record<string, string[]> {
  return Object.fromEntries(Object.entries(jobs).map(([state, list]) => [state, idsOf(list)]))
}

function idsOf(summaries: Json): string[] {
  return summaries.map(({ jobId }: Json) => jobId)
}

/** Whole seconds since 1970, of the last minutes. */
export function assertNow(...seconds: unknown[]): void {
  const now = Date.now() / 1000
  for (const each of seconds) {
    assert.ok(Number.isInteger(each), `${each} is no whole number`)
    assert.ok(Math.abs((each as number) - now) < 300, `${each} is not now`)
  }
}
