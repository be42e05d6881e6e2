// Rollouts and freezes as callers and devices see them, on one real server with its own ticker.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'
import { inGivenOrder } from './rolled-runs.ts'

const api = await openSharedServer()
const ids = Array.from({ length: 6 }, (_, index) => `r${index}`)
const devices = await Promise.all(ids.map((id) => newDevice(api, id)))

type Device = (typeof devices)[number]
type Shown = {
  runId: number
  counts: Record<string, number>
  rollout: Record<string, never> & {
    state: string
    wave: number
    released: number
    pausedBecause: string
    pausedBy: string
    pausedCause: { rule: string } | null
    waves: { size: number; released: number; counts: Record<string, number> }[]
  }
}

let jobs = 0

/** A run of a job of its own; the ids of its executions are in the order of the devices. */
async function launch(content: object, deviceIds = ids) {
  const jobName = `rolled-${++jobs}`
  const put = await api.call('PUT', `/job/api/jobs/${jobName}`, { body: inGivenOrder(content) })
  assert.equal(put.status, 201, JSON.stringify(put.json))
  const reply = await api.trigger(jobName, deviceIds)
  assert.equal(reply.status, 201)
  const path = reply.headers.get('location') as string
  const executions: { jobExecutionId: number; deviceId: string }[] = reply.json
  assert.deepEqual(
    executions.map(({ deviceId }) => deviceId),
    deviceIds,
  )
  return { path, jobName, executionIds: executions.map(({ jobExecutionId }) => jobExecutionId) }
}

const runOf = async (path: string): Promise<Shown> => (await api.call('GET', path)).json
const act = (path: string, name: string, body?: unknown, key?: string) =>
  api.call('POST', `${path}/${name}`, { ...(body !== undefined && { body }), ...(key && { key }) })

async function waitFor(path: string, released: number, state = 'ROLLING_OUT'): Promise<Shown> {
  let run = await runOf(path)
  await waitUntil(`${released} are released and it is ${state}`, async () => {
    run = await runOf(path)
    return run.rollout.released === released && run.rollout.state === state
  })
  return run
}

/** The device at this position ends its execution. */
async function end(
  { executionIds }: { executionIds: number[] },
  index: number,
  status: string,
): Promise<void> {
  const reply = await devices[index]?.update(executionIds[index] as number, status)
  assert.equal(reply?.status, 200, JSON.stringify(reply?.json))
}

async function explain(jobExecutionId: number): Promise<{ code: string; text: string }> {
  return (await api.call('GET', `/job/api/executions/${jobExecutionId}/explain`)).json
}

test('waves open one after the other, and what is not released is unknown to its device', async () => {
  const rollout = { waves: [{ size: 1 }, { size: 2 }, { size: '100%' }], next: { succeededPercent: 100 } }
  const { path, executionIds } = await launch({ rollout })
  const first = await waitFor(path, 1)
  assert.deepEqual(
    first.rollout.waves.map(({ size, released }) => [size, released]),
    [
      [1, 1],
      [2, 0],
      [3, 0],
    ],
  )
  const [d0, d1] = devices as [Device, Device]
  assert.equal((await d1.update(executionIds[1] as number, 'IN_PROGRESS')).status, 404)
  const words = await explain(executionIds[5] as number)
  assert.equal(words.code, 'NOT_RELEASED')
  assert.match(
    words.text,
    /It is in wave 3; wave 2 of 3 opens when 100 % of wave 1 have succeeded; 0 % so far/,
  )
  assert.equal((await d0.update(executionIds[0] as number, 'SUCCEEDED')).status, 200)
  const second = await waitFor(path, 3)
  assert.deepEqual([second.rollout.wave, second.rollout.waves[0]?.counts.SUCCEEDED], [2, 1])
  const advanced = await act(path, 'advance')
  assert.deepEqual(
    [advanced.status, advanced.json.rollout.state, advanced.json.rollout.released],
    [200, 'RELEASED', 6],
  )
  for (const [index] of devices.entries()) if (index > 0) await end({ executionIds }, index, 'SUCCEEDED')
  assert.equal((await runOf(path)).counts.SUCCEEDED, 6)
  assertRefused(await act(path, 'pause'), 'J-303')
})

test('a stop rule pauses it with its reason; resumed, it counts from zero again', async () => {
  const stop = [{ on: ['FAILED'], count: 1 }]
  const rollout = { waves: [{ size: 2 }, { size: '100%' }], stop }
  const { path, executionIds } = await launch({ rollout })
  await waitFor(path, 2)
  await end({ executionIds }, 0, 'FAILED')
  const paused = await waitFor(path, 2, 'PAUSED')
  assert.equal(paused.rollout.pausedBecause, '1 of 1 ended executions of the run are FAILED')
  assert.equal(paused.rollout.pausedBy, 'stop rule')
  const [jobExecutionId, deviceId] = [executionIds[0], devices[0]?.deviceId]
  assert.deepEqual(paused.rollout.pausedCause, {
    ...{
      rule: 'STOP_RULE',
      wave: 1,
      stopRule: 1,
      of: 'RUN',
      on: ['FAILED'],
      count: 1,
      ended: 1,
      percent: 100,
      needed: null,
      possible: null,
    },
    executions: [{ jobExecutionId, deviceId, execState: 'FAILED' }],
  })
  const { code, text } = await explain(executionIds[3] as number)
  assert.deepEqual([code, /was paused by stop rule: 1 of 1/.test(text)], ['RUN_PAUSED', true])
  const resumed = await act(path, 'resume')
  assert.deepEqual([resumed.status, resumed.json.rollout.state], [200, 'ROLLING_OUT'])
  assert.equal(resumed.json.rollout.pausedCause, null)
  await end({ executionIds }, 1, 'SUCCEEDED')
  await waitFor(path, 6, 'RELEASED')
  await act(path, 'cancel')
})

test('an abort cancels what was not released, with its cause', async () => {
  const rollout = {
    waves: [{ size: 1 }, { size: '100%' }],
    stop: [{ on: ['REJECTED'], percent: 50, action: 'ABORT' }],
  }
  const { path, executionIds } = await launch({ rollout })
  await waitFor(path, 1)
  await end({ executionIds }, 0, 'REJECTED')
  await waitFor(path, 1, 'ABORTED')
  await waitUntil('the rest is canceled', async () => (await runOf(path)).counts.CANCELED === 5)
  const history = (await api.call('GET', `/job/api/executions/${executionIds[4]}/history`)).json
  assert.match(JSON.stringify(history), /"event":"rollout-stopped"/)
  assert.equal((await devices[4]?.startNext())?.json.execution, undefined)
})

test('another principal approves, never the creator', async () => {
  const approver = await api.newKey(['APPROVE', 'READ'])
  const { path, executionIds } = await launch({ approval: true })
  assert.equal((await runOf(path)).rollout.state, 'AWAITING_APPROVAL')
  assert.equal((await explain(executionIds[0] as number)).code, 'AWAITING_APPROVAL')
  assertRefused(await act(path, 'approve', {}), 'J-810')
  assertRefused(await act(path, 'deny', {}), 'J-810')
  assert.equal((await act(path, 'pause', undefined, approver.apiKey)).json.code, 'J-804')
  const approved = await act(path, 'approve', { comment: 'looks good' }, approver.apiKey)
  assert.deepEqual(
    [approved.status, approved.json.rollout.state, approved.json.rollout.released],
    [200, 'RELEASED', 6],
  )
  assertRefused(await act(path, 'approve', {}, approver.apiKey), 'J-303')
  await act(path, 'cancel')

  const other = await launch({ approval: true, rollout: { order: 'RANDOM' } })
  assert.equal(
    (await act(other.path, 'deny', { comment: 'no' }, approver.apiKey)).json.rollout.state,
    'DENIED',
  )
  await waitUntil('all of it is canceled', async () => (await runOf(other.path)).counts.CANCELED === 6)
})

test('a gate may wait for approval, and a wave may be changed while it has not begun', async () => {
  const approver = await api.newKey(['APPROVE'])
  const sizes = [{ size: 1 }, { size: 1 }, { size: '100%' }]
  const rollout = { order: 'GIVEN', waves: sizes, next: { action: 'APPROVAL' } }
  const { path, executionIds } = await launch({ rollout })
  await waitFor(path, 1)
  await end({ executionIds }, 0, 'SUCCEEDED')
  await waitFor(path, 1, 'AWAITING_APPROVAL')
  const waves = (...sizes: (number | string)[]) => ({ rollout: { waves: sizes.map((size) => ({ size })) } })
  const patch = (body: unknown) => api.call('PATCH', path, { body })
  assertRefused(await patch(waves(2, '100%')), 'J-500')
  assertRefused(await patch(waves(1, 2)), 'J-500')
  assertRefused(
    await patch({ rollout: { waves: [{ size: 1 }, { size: '100%', where: 'online' }] } }),
    'J-500',
  )
  const patched = await patch(waves(1, 3, '100%'))
  assert.deepEqual(
    patched.json.rollout.waves.map(({ size }: { size: number }) => size),
    [1, 3, 2],
  )
  assert.deepEqual(patched.json.rollout.definition, { ...rollout, ...waves(1, 3, '100%').rollout })
  assert.equal((await act(path, 'approve', undefined, approver.apiKey)).json.rollout.released, 4)
  await act(path, 'pause')
  const canceled = await act(path, 'cancel')
  assert.deepEqual([canceled.json.counts.CANCELED, canceled.json.rollout.state], [5, 'ABORTED'])
})

test('a frozen fleet is offered nothing until it is over', async () => {
  const { path, executionIds } = await launch({}, ['r0', 'r1'])
  const freeze = (body: unknown) => api.call('POST', '/job/api/fleet/freeze', { body })
  assertRefused(await freeze({}), 'J-500')
  assertRefused(await freeze({ reason: 'x', until: '2001-01-01T00:00:00Z' }), 'J-500')
  assert.equal((await freeze({ reason: 'no changes today' })).json.frozen, true)
  const [d0] = devices as [Device]
  assert.equal((await d0.startNext()).json.execution, undefined)
  for (const status of ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED']) {
    assert.equal((await d0.update(executionIds[0] as number, status)).status, 404)
  }
  const described = await d0.call('GET', `/${executionIds[0]}?includeJobDocument=true`)
  assert.equal(described.status, 404)
  const { code, text } = await explain(executionIds[0] as number)
  assert.deepEqual([code, /frozen by key admin .*no changes today/.test(text)], ['FROZEN', true])
  const { frozenBy, frozenByName } = (await api.call('GET', '/job/api/fleet/freeze')).json
  assert.deepEqual([frozenBy.startsWith('key:'), frozenByName], [true, 'admin'])
  assert.equal((await api.call('DELETE', '/job/api/fleet/freeze')).status, 204)
  assert.equal((await api.call('GET', '/job/api/fleet/freeze')).json.frozen, false)
  assert.equal((await d0.update(executionIds[0] as number, 'IN_PROGRESS')).status, 200)
  await act(path, 'cancel', { force: true })
})

test('invalid rollouts are refused, and nothing is created', async () => {
  for (const rollout of [
    { waves: [{ size: '101%' }] },
    { waves: [{ size: 0 }] },
    { waves: [] },
    { stop: [{ on: ['FAILED'] }] },
    { stop: [{ on: ['SUCCEEDED'], count: 1 }] },
    { growth: { factor: 2, afterSucceeded: 5 } },
    { next: { succeededPercent: 0 } },
    { surprise: true },
  ]) {
    const reply = await api.call('PUT', '/job/api/jobs/wrong', { body: { rollout } })
    assertRefused(reply, 'J-500')
  }
  assertRefused(await api.call('GET', '/job/api/jobs/wrong'), 'J-301')
  await api.putJobAndDevices('plain', ['r0'])
  const reply = await api.trigger('plain', ['r0'])
  const path = reply.headers.get('location') as string
  assert.equal((await runOf(path)).rollout, null)
  assertRefused(await act(path, 'pause'), 'J-303')
  assertRefused(await act('/job/api/runs/999999', 'resume'), 'J-304')
  await act(path, 'cancel')
})

test('the rate holds, and the answer of a trigger has the order of the call whatever the order of release', async () => {
  const begun = performance.now()
  const { path } = await launch({ rollout: { order: 'RANDOM', ratePerMinute: 60 } })
  let { rollout } = await runOf(path)
  await waitUntil('two are released', async () => {
    rollout = (await runOf(path)).rollout
    return rollout.released >= 2
  })
  const seconds = (performance.now() - begun) / 1000
  assert.ok(rollout.released <= seconds + 2, `${rollout.released} in ${seconds} s`)
  assert.equal(rollout.state, rollout.released < ids.length ? 'ROLLING_OUT' : 'RELEASED')
  await act(path, 'cancel')
})

const report = (device: Device, attributes: object) =>
  fetch(`${api.http}/things/${device.deviceId}/attributes`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${device.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(attributes),
  })

test('waves choose by selector, and a gate believes what devices report, not what they or their owner say', async () => {
  await api.call('PUT', '/job/api/jobs/firmware', { body: {} })
  await api.call('PUT', '/job/api/devices/r4', { body: { tags: ['canary'], attributes: { fw: '2.4.1' } } })
  assert.equal((await report(devices[4] as Device, { fw: '2.4.0' })).status, 200)
  const rollout = {
    order: 'GIVEN',
    waves: [{ size: 1, where: 'tag=canary' }, { size: '100%' }],
    next: { succeededPercent: 100, where: 'fw=2.4.1' },
  }
  const body = { jobName: 'firmware', targets: { where: 'deviceId in (r1, r2, r4)' }, rollout }
  const plan = await api.call('POST', '/job/api/runs?dryRun=true', { body })
  assert.deepEqual(plan.json.waves, [
    { size: 1, sample: ['r4'] },
    { size: 2, sample: ['r1', 'r2'] },
  ])
  const made = await api.call('POST', '/job/api/runs', { body: { ...body, planId: plan.json.planId } })
  assert.equal(made.status, 201, made.text)
  const path = made.headers.get('location') as string
  await waitFor(path, 1)
  const { items } = (await api.call('GET', `/job/api/executions?runId=${made.json.runId}`)).json
  const canary = items.find((each: { deviceId: string }) => each.deviceId === 'r4').jobExecutionId
  const held = items.find((each: { deviceId: string }) => each.deviceId === 'r2').jobExecutionId
  const device = devices[4] as Device
  assert.equal((await report(device, { fw: '2.4.0' })).status, 200)
  assert.equal((await device.update(canary, 'SUCCEEDED')).status, 200)
  await waitUntil(
    'the gate has seen it',
    async () => (await runOf(path)).rollout.waves[0]?.counts.SUCCEEDED === 1,
  )
  const { text } = await explain(held)
  assert.match(text, /100 % of wave 1 have succeeded and report fw=2\.4\.1; 0 % so far/)
  assert.equal((await runOf(path)).rollout.released, 1)
  assert.equal((await report(device, { fw: '2.4.1' })).status, 200)
  await waitFor(path, 3, 'RELEASED')
  await act(path, 'cancel')
})

test('a run that is asked for with a wrong rollout is not made', async () => {
  const runs = async () => (await api.call('GET', '/job/api/runs?jobName=firmware')).json.items.length
  const before = await runs()
  const targets = { deviceIds: ['r1', 'r2'] }
  const refused: [object, string, RegExp?][] = [
    [{ waves: [{ size: 1 }] }, 'J-500'],
    [{ waves: [{ size: 1, where: 'tag=nobody' }, { size: '100%' }] }, 'J-500'],
    [{ waves: [{ size: 1 }, { size: 1, where: 'tag=' }] }, 'J-503', /"field":"rollout\.waves\[1\]\.where"/],
    [{ next: { where: 'group=nowhere' } }, 'J-309', /"field":"rollout\.next\.where"/],
    [{ waves: [{ size: '0%' }] }, 'J-500', /size must be a number of devices, or a percentage/],
    [{ waves: [{ size: 0 }] }, 'J-500', /size must be a number of devices, or a percentage/],
  ]
  for (const [rollout, code, text = /./] of refused) {
    const reply = await api.call('POST', '/job/api/runs', {
      body: { jobName: 'firmware', targets, rollout },
      headers: { accept: 'application/problem+json' },
    })
    assert.equal(reply.json.code, code, reply.text)
    assert.match(reply.text, text)
  }
  assert.equal(await runs(), before)
  const body = { jobName: 'firmware', targets, approval: true }
  const made = await api.call('POST', '/job/api/runs', { body })
  assert.equal(made.json.rollout.state, 'AWAITING_APPROVAL')
  const awaiting = async (query: string) => {
    const { json } = await api.call('GET', `/job/api/runs?jobName=firmware&${query}`)
    return json.items.map(({ runId }: Shown) => runId)
  }
  assert.deepEqual(await awaiting('rolloutState=AWAITING_APPROVAL&finished=false'), [made.json.runId])
  assert.deepEqual(await awaiting('rolloutState=PAUSED'), [])
  assert.equal((await api.call('GET', '/job/api/runs?rolloutState=WAITING')).json.code, 'J-500')
  await act(made.headers.get('location') as string, 'cancel')
  assert.deepEqual(await awaiting('rolloutState=AWAITING_APPROVAL'), [])
})

test('a rate that does not divide a minute is released, and resuming it makes up for nothing', async () => {
  const { path } = await launch({ rollout: { ratePerMinute: 333 } })
  await waitUntil('more than one is released', async () => (await runOf(path)).rollout.released > 1)
  await waitFor(path, 6, 'RELEASED')
  const slow = await launch({ rollout: { ratePerMinute: 7 } })
  await waitFor(slow.path, 1)
  await act(slow.path, 'pause')
  const resumed = await act(slow.path, 'resume')
  assert.deepEqual([resumed.json.rollout.state, resumed.json.rollout.released], ['ROLLING_OUT', 1])
  await act(slow.path, 'cancel', undefined)
})
