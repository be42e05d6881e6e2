// Stop rules over a schedule that gives its job to each device as it starts to match.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer()
const url = '/job/api/schedules'
await api.call('PUT', '/job/api/jobs/update', { body: {} })

type Event = { data: Record<string, unknown> }
const listener = await EventListener.open(api.http, api.adminKey, { query: '?types=schedule.paused' })
after(() => listener.close())

const read = async (path: string) => (await api.call('GET', path)).json
const runsOf = async (name: string): Promise<{ runId: number; total: number }[]> =>
  (await read(`/job/api/runs?scheduleName=${name}`)).items
const isPaused = (name: string) => async () => (await read(`${url}/${name}`)).paused

async function putSchedule(name: string, rollout: object): Promise<void> {
  const content = {
    jobName: 'update',
    when: { match: true },
    targets: { where: `tag=${name}` },
    rollout: { order: 'GIVEN', ...rollout },
  }
  assert.equal((await api.call('PUT', `${url}/${name}`, { body: content })).status, 201)
}

/** Devices that match from now on. */
async function addDevices(name: string, ids: string[]) {
  const devices = []
  for (const id of ids) devices.push(await newDevice(api, `${name}-${id}`))
  const deviceIds = ids.map((id) => `${name}-${id}`)
  await api.call('POST', '/job/api/devices/change', { body: { deviceIds, addTags: [name] } })
  return devices
}

async function waitForRuns(name: string, count: number): Promise<number[]> {
  await waitUntil(`${name} has ${count} runs`, async () => (await runsOf(name)).length >= count)
  const runs = await runsOf(name)
  assert.equal(runs.length, count)
  return runs.map(({ runId }) => runId).toSorted((one, other) => one - other)
}

async function end(device: Awaited<ReturnType<typeof newDevice>>, status: 'FAILED' | 'SUCCEEDED') {
  await waitUntil('it has an execution', async () => {
    const { execution } = (await device.startNext()).json
    if (execution === undefined) return false
    await device.update(Number(execution.jobId), status)
    return true
  })
}

test('failures of its runs add up: the third one pauses the schedule, which then counts from zero again', async () => {
  await putSchedule('adds', { stop: [{ on: ['FAILED'], count: 3 }] })
  for (const [index, id] of ['a', 'b', 'c'].entries()) {
    const [device] = await addDevices('adds', [id])
    await waitForRuns('adds', index + 1)
    assert.ok(device)
    await end(device, 'FAILED')
  }
  await waitUntil('it is paused', isPaused('adds'))
  const paused = await read(`${url}/adds`)
  const because = "3 of 3 ended executions of the schedule's runs of the last 24 hours are FAILED"
  assert.deepEqual([paused.pausedBecause, paused.pausedBy, paused.pausedByName], [because, 'stop rule', null])
  assert.deepEqual(paused.pausedCause, {
    ...{ rule: 'STOP_RULE', stopRule: 1, on: ['FAILED'], count: 3, ended: 3, percent: 100 },
  })
  const find = () =>
    (listener.events as unknown as Event[]).find(({ data: { scheduleName } }) => scheduleName === 'adds')
  await listener.until(() => find() !== undefined)
  const { data } = find() as Event
  assert.deepEqual([data.because, data.rule, data.principal], [because, 'STOP_RULE', 'service'])

  const [fourth] = await addDevices('adds', ['d'])
  assert.equal((await api.call('POST', `${url}/adds/resume`)).json.pausedCause, null)
  await waitForRuns('adds', 4)
  assert.ok(fourth)
  await end(fourth, 'FAILED')
  // By then the failure before has been judged.
  await addDevices('adds', ['e'])
  await waitForRuns('adds', 5)
  assert.equal(await isPaused('adds')(), false)
})

test('what was not released is held, and continues when the schedule is resumed', async () => {
  await putSchedule('holds', { ratePerMinute: 1, stop: [{ on: ['FAILED'], count: 1 }] })
  const [first] = await addDevices('holds', ['a', 'b', 'c'])
  const [runId] = await waitForRuns('holds', 1)
  assert.ok(first)
  await end(first, 'FAILED')
  await waitUntil('it is paused', isPaused('holds'))
  const run = `/job/api/runs/${runId}`
  await waitUntil(
    'the schedule holds the run',
    async () => (await read(run)).rollout.pausedCause?.of === 'SCHEDULE',
  )
  const { rollout } = await read(run)
  assert.deepEqual([rollout.state, rollout.released, rollout.pausedBy], ['PAUSED', 1, 'stop rule'])
  assert.equal((await api.call('POST', `${url}/holds/resume`)).status, 200)
  await waitUntil('the run continues', async () => (await read(run)).rollout.state === 'ROLLING_OUT')
  assert.equal(await isPaused('holds')(), false)
})

test('ABORT cancels what was not released, and pauses the schedule', async () => {
  await putSchedule('aborts', {
    ratePerMinute: 1,
    stop: [
      { on: ['FAILED'], count: 1, action: 'PAUSE' },
      { on: ['FAILED'], count: 1, action: 'ABORT' },
    ],
  })
  const [first] = await addDevices('aborts', ['a', 'b'])
  const [runId] = await waitForRuns('aborts', 1)
  assert.ok(first)
  await end(first, 'FAILED')
  await waitUntil('it is paused', isPaused('aborts'))
  await waitUntil(
    'the rest is canceled',
    async () => (await read(`/job/api/runs/${runId}`)).counts.CANCELED === 1,
  )
})

test('the rules of the job count where the schedule has no rollout', async () => {
  const rollout = { stop: [{ on: ['FAILED'], percent: 50, minEnded: 2 }] }
  await api.call('PUT', '/job/api/jobs/ruled', { body: { rollout } })
  const content = { jobName: 'ruled', when: { match: true }, targets: { where: 'tag=ruled' } }
  assert.equal((await api.call('PUT', `${url}/ruled`, { body: content })).status, 201)
  for (const [index, id] of ['a', 'b'].entries()) {
    const [device] = await addDevices('ruled', [id])
    await waitForRuns('ruled', index + 1)
    assert.ok(device)
    await end(device, index === 0 ? 'SUCCEEDED' : 'FAILED')
  }
  await waitUntil('it is paused', isPaused('ruled'))
  assert.equal((await read(`${url}/ruled`)).pausedCause.percent, 50)
})
