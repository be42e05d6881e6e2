// @aws-sdk/client-iot-jobs-data-plane, unmodified: the same operations over HTTP. A middleware puts the device's token
// where the SDK would put its signature.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  DescribeJobExecutionCommand,
  GetPendingJobExecutionsCommand,
  InvalidRequestException,
  InvalidStateTransitionException,
  IoTJobsDataPlaneClient,
  ResourceNotFoundException,
  StartNextPendingJobExecutionCommand,
  TerminalStateException,
  UpdateJobExecutionCommand,
} from '@aws-sdk/client-iot-jobs-data-plane'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { type DeviceClient, type Json, Refused } from './support/device-client.ts'
import { exerciseDevice, refusalOf } from './support/exercise-device.ts'
import { cancel, newDeviceId, putJob, readExecution, seedDevice, trigger } from './support/seed.ts'

const api = await openSharedServer()
await putJob(api, 'job', { document: { n: 1 } })

/** What the SDK throws, to what the same refusal is called over MQTT. */
const codes: Record<string, string> = {
  InvalidRequestException: 'InvalidRequest',
  InvalidStateTransitionException: 'InvalidStateTransition',
  ResourceNotFoundException: 'ResourceNotFound',
  TerminalStateException: 'TerminalStateReached',
  VersionMismatchException: 'VersionMismatch',
}

type HttpDevice = {
  api: typeof api
  deviceId: string
  token: string
  sdk: IoTJobsDataPlaneClient
  client: DeviceClient
}

async function open(t: TestContext): Promise<HttpDevice & { documentAs: 'text' }> {
  const deviceId = newDeviceId()
  const token = await seedDevice(api, deviceId)
  const sdk = new IoTJobsDataPlaneClient({
    endpoint: api.http,
    region: 'none',
    credentials: { accessKeyId: 'unused', secretAccessKey: 'unused' },
    maxAttempts: 1,
  })
  t.after(() => sdk.destroy())
  sdk.middlewareStack.addRelativeTo(
    (next: Json) => (args: Json) => {
      args.request.headers.authorization = `Bearer ${token}`
      return next(args)
    },
    { relation: 'after', toMiddleware: 'httpSigningMiddleware', name: 'bearer' },
  )
  const thingName = deviceId
  const answerOf = (answer: Promise<Json>): Promise<Json> =>
    answer.catch((error) => {
      const code = codes[error.name]
      throw code === undefined ? error : new Refused(code, error)
    })
  const client: DeviceClient = {
    getPending: () => answerOf(sdk.send(new GetPendingJobExecutionsCommand({ thingName }))),
    startNext: (fields) =>
      answerOf(sdk.send(new StartNextPendingJobExecutionCommand({ thingName, ...fields }))),
    describe: (jobId, fields) =>
      answerOf(sdk.send(new DescribeJobExecutionCommand({ thingName, jobId, ...fields }))),
    update: (jobId, fields) =>
      answerOf(sdk.send(new UpdateJobExecutionCommand({ thingName, jobId, ...fields }))),
  }
  return { api, deviceId, token, sdk, client, documentAs: 'text' }
}

exerciseDevice('client-iot-jobs-data-plane', open)

test('the SDK throws its own classes, with the status of each', async (t) => {
  const { deviceId, client } = await open(t)
  const jobId = await trigger(api, 'job', deviceId)
  const badDetails = { statusDetails: { 'not allowed': 'x' } }
  await assertThrown(client.describe('999999999'), ResourceNotFoundException, 404)
  await assertThrown(client.update(jobId, { status: 'DONE' }), InvalidRequestException, 400)
  await assertThrown(client.startNext(badDetails), InvalidRequestException, 400)
  await client.update(jobId, { status: 'SUCCEEDED' })
  await assertThrown(client.describe(jobId), TerminalStateException, 410)
  await assertThrown(client.update(jobId, { status: 'FAILED' }), InvalidStateTransitionException, 409)
})

async function assertThrown(answer: Promise<unknown>, type: new (...args: never[]) => Error, status: number) {
  const { answer: error } = await refusalOf(answer)
  assert.ok(error instanceof type, `${error}`)
  assert.equal((error as Json).$metadata.httpStatusCode, status)
  assert.ok(error.message.length > 0)
}

test('describe leaves the document out unless it is asked for, and gives it as a text', async (t) => {
  const { deviceId, client } = await open(t)
  const jobId = await trigger(api, 'job', deviceId)
  assert.equal((await client.describe(jobId)).execution.jobDocument, undefined)
  assert.equal((await client.describe('$next')).execution.jobId, jobId)
  const { execution } = await client.describe(jobId, { includeJobDocument: true, executionNumber: 1 })
  assert.equal(execution.jobDocument, '{"n":1}')
  const { jobDocument } = await client.update(jobId, { status: 'IN_PROGRESS', includeJobDocument: true })
  assert.equal(jobDocument, '{"n":1}')
})

test('another device, a wrong token and no token are refused alike', async (t) => {
  const { deviceId, token } = await open(t)
  const other = newDeviceId()
  await seedDevice(api, other)
  const ask = async (path: string, headers: Record<string, string>) => {
    const { status, text } = await api.call('GET', path, { key: '', headers })
    return { status, text }
  }
  const own = await ask(`/things/${deviceId}/jobs`, { authorization: `Bearer ${token}` })
  assert.equal(own.status, 200)
  const refused = [
    await ask(`/things/${other}/jobs`, { authorization: `Bearer ${token}` }),
    await ask(`/things/${deviceId}/jobs`, { authorization: `Bearer ${token}x` }),
    await ask('/things/nobody/jobs', { authorization: `Bearer ${token}` }),
    await ask(`/things/${deviceId}/jobs`, {}),
  ]
  for (const { status } of refused) assert.ok(status === 401 || status === 403, `${status}`)
})

for (const reported of ['CANCELED', 'FAILED'] as const) {
  test(`a cancel while it works: ${reported} ends it as ${reported}`, async (t) => {
    const { deviceId, client } = await open(t)
    const jobId = await trigger(api, 'job', deviceId)
    await client.startNext()
    assert.equal((await cancel(api, jobId)).execState, 'CANCELING')
    assert.equal((await client.describe(jobId)).execution.status, 'IN_PROGRESS')
    await client.update(jobId, { status: reported })
    assert.equal((await readExecution(api, jobId)).execState, reported)
  })
}

test('a forced cancel shows as InvalidStateTransition at the next update', async (t) => {
  const { deviceId, client } = await open(t)
  const jobId = await trigger(api, 'job', deviceId)
  await client.startNext()
  assert.equal((await cancel(api, jobId, { force: true })).execState, 'CANCELED')
  const refusal = await refusalOf(client.update(jobId, { status: 'IN_PROGRESS' }))
  assert.equal(refusal.code, 'InvalidStateTransition')
  assert.equal((await client.startNext()).execution, undefined)
})

test('the long poll answers at once when something is pending, else when it is', async (t) => {
  const { deviceId, token, client } = await open(t)
  const poll = async (seconds: number) => {
    const path = `/things/${deviceId}/jobs?wait=${seconds}`
    const reply = await api.call('GET', path, { key: '', headers: { authorization: `Bearer ${token}` } })
    assert.equal(reply.status, 200, reply.text)
    return reply.json
  }
  const empty = await poll(1)
  assert.deepEqual([empty.inProgressJobs, empty.queuedJobs], [[], []])
  const waiting = poll(30)
  const jobId = await trigger(api, 'job', deviceId)
  assert.equal((await waiting).queuedJobs[0].jobId, jobId)
  assert.equal((await poll(30)).queuedJobs[0].jobId, jobId)
  await client.update(jobId, { status: 'SUCCEEDED' })
})
