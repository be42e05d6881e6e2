// Rollbacks: the run is stopped, and every device that may have got it gets the previous version.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { ids, devices, newJob, launch, runOf, waitFor, act, report } = await openRolledRuns(api, 'b', 6)
const waves = (size: number) => ({
  order: 'GIVEN',
  waves: [{ size }, { size: '100%' }],
  next: { succeededPercent: 1 },
})

/** Of version 2, with the rollout of the job. */
async function launchSecond(content: object) {
  const jobName = await newJob({ ...content, document: { n: 1 } })
  await api.call('PUT', `/job/api/jobs/${jobName}`, { body: { ...content, document: { n: 2 } } })
  return { jobName, ...(await launch(jobName)) }
}

async function devicesOf(runId: number): Promise<string[]> {
  const { items } = (await api.call('GET', `/job/api/executions?runId=${runId}`)).json
  return items.map(({ deviceId }: { deviceId: string }) => deviceId).sort()
}

test('it stops the run, and takes back all that were released, also those in progress', async () => {
  const run = await launchSecond({ rollout: { ...waves(4), ratePerMinute: 60_000 } })
  await waitFor(run.path, 4)
  await report(run, 0, 'FAILED')
  await report(run, 1, 'IN_PROGRESS')
  await report(run, 2, 'REJECTED')
  const reply = await act(run.path, 'rollback', { note: 'boot loops' })
  assert.equal(reply.status, 201, reply.text)
  const { version, rollbackOf, note, total, runId, rollout } = reply.json
  assert.deepEqual([version, rollbackOf, note, total], [1, run.runId, 'boot loops', 4])
  assert.equal(rollout.waves.length, 1, 'all at once')
  assert.deepEqual(await devicesOf(runId), ids.slice(0, 4))
  const before = await runOf(run.path)
  assert.deepEqual([before.rollout?.state, before.rollout?.released], ['ABORTED', 4])
  assert.deepEqual([before.counts.CANCELED, before.counts.CANCELING], [3, 1])
  assert.equal(before.rollout?.pausedBecause, 'the run is rolled back')
  assert.equal(before.rollout?.pausedByName, 'admin')
  // What is in progress ends first.
  const next = await devices[1]?.startNext()
  assert.notEqual(next?.json.execution?.jobDocument, '{"n":1}')
  await report(run, 1, 'CANCELED')
  const then = await devices[1]?.startNext()
  assert.equal(then?.json.execution.jobDocument, '{"n":1}')
  assert.equal((await devices[5]?.startNext())?.json.execution, undefined)
  await act(`/job/api/runs/${runId}`, 'cancel', { force: true })
})

test('a second one is refused and names the first, unless it is asked for again', async () => {
  const run = await launchSecond({})
  const both = await Promise.all([act(run.path, 'rollback', {}), act(run.path, 'rollback', {})])
  const codes = both.map(({ status, json }) => (status === 201 ? 201 : json.code)).sort()
  assert.ok(codes[0] === 201 && ['J-317', 'J-502'].includes(codes[1]), String(codes))
  const first = both.find(({ status }) => status === 201)?.json
  const second = await act(run.path, 'rollback', {})
  assert.deepEqual(
    [second.status, second.json.code, second.json.message],
    [409, 'J-317', `The run was rolled back before: run ${first.runId}`],
  )
  const again = await act(run.path, 'rollback', { again: true })
  assert.deepEqual([again.status, again.json.rollbackOf], [201, run.runId])
  for (const { runId } of [first, again.json]) await act(`/job/api/runs/${runId}`, 'cancel')
})

test('only some of the devices: the run is stopped all the same, and the others keep what they have', async () => {
  const run = await launchSecond({ rollout: waves(4) })
  await waitFor(run.path, 4)
  await report(run, 0, 'IN_PROGRESS')
  const wrong = await act(run.path, 'rollback', { deviceIds: ['b0'], where: 'online' })
  assertRefused(wrong, 'J-500')
  assert.equal((await act(run.path, 'rollback', { where: 'deviceId=' })).json.code, 'J-503')
  assertRefused(await act(run.path, 'rollback', { deviceIds: ['b5'] }), 'J-314')
  assert.equal((await runOf(run.path)).rollout?.state, 'ROLLING_OUT', 'whoever is refused stops nothing')
  const some = await act(run.path, 'rollback', { where: 'deviceId in (b0, b1, b5)' })
  assert.equal(some.status, 201, some.text)
  assert.deepEqual(await devicesOf(some.json.runId), ['b0', 'b1'])
  const { rollout, counts } = await runOf(run.path)
  assert.deepEqual([rollout?.state, counts.CANCELING, counts.CANCELED, counts.PENDING], ['ABORTED', 1, 3, 2])
  for (const path of [run.path, `/job/api/runs/${some.json.runId}`])
    await act(path, 'cancel', { force: true })
})

test('to the version before it needs no approval, to any other it does where the job asks for one', async () => {
  const approver = await api.newKey(['APPROVE', 'READ'])
  const jobName = await newJob({ approval: true, document: { n: 1 } })
  const put = (n: number) =>
    api.call('PUT', `/job/api/jobs/${jobName}`, { body: { approval: true, document: { n } } })
  await put(2)
  const second = await launch(jobName)
  await act(second.path, 'approve', {}, approver.apiKey)
  await waitFor(second.path, 6, 'RELEASED')
  await act(second.path, 'cancel')
  await put(3)
  const run = await launch(jobName)
  assertRefused(await act(run.path, 'rollback', {}), 'J-314')
  await act(run.path, 'approve', {}, approver.apiKey)
  await waitFor(run.path, 6, 'RELEASED')
  const rollout = { waves: [{ size: 2 }, { size: '100%' }] }
  const before = await act(run.path, 'rollback', { rollout })
  const path = `/job/api/runs/${before.json.runId}`
  const { waves: made } = await waitFor(path, 2)
  assert.deepEqual(
    made.map(({ size }) => size),
    [2, 4],
  )
  const other = await act(run.path, 'rollback', { toVersion: 1, again: true })
  assert.deepEqual([other.json.version, other.json.rollout.state], [1, 'AWAITING_APPROVAL'])
  for (const { json } of [before, other]) await act(`/job/api/runs/${json.runId}`, 'cancel')
})

test('to a version that no run has brought to devices it needs approval, also if it is the one before', async () => {
  const approver = await api.newKey(['APPROVE', 'READ'])
  const jobName = await newJob({ approval: true, document: { n: 1 } })
  const put = (n: number) =>
    api.call('PUT', `/job/api/jobs/${jobName}`, { body: { approval: true, document: { n } } })
  await put(2)
  const denied = await launch(jobName)
  await act(denied.path, 'deny', {}, approver.apiKey)
  await put(1)
  const run = await launch(jobName)
  await act(run.path, 'approve', {}, approver.apiKey)
  await waitFor(run.path, 6, 'RELEASED')
  const back = await act(run.path, 'rollback', {})
  assert.deepEqual([back.json.version, back.json.rollout.state], [2, 'AWAITING_APPROVAL'], back.text)
  await act(`/job/api/runs/${back.json.runId}`, 'cancel')
})

test('all at once, also if only the earlier version has a rollout', async () => {
  const jobName = await newJob({ rollout: waves(1), document: { n: 1 } })
  await api.call('PUT', `/job/api/jobs/${jobName}`, { body: { document: { n: 2 } } })
  const run = await launch(jobName)
  const back = await act(run.path, 'rollback', {})
  assert.deepEqual([back.status, back.json.version, back.json.rollout.waves.length], [201, 1, 1], back.text)
  await waitFor(`/job/api/runs/${back.json.runId}`, 6, 'RELEASED')
  await act(`/job/api/runs/${back.json.runId}`, 'cancel')
})

test('who may only trigger stops no unfinished run of others', async () => {
  const trigger = await api.newKey(['TRIGGER', 'READ'])
  const other = await launchSecond({})
  const refused = await act(other.path, 'rollback', {}, trigger.apiKey)
  assert.deepEqual([refused.status, refused.json.code], [403, 'J-804'], refused.text)
  assert.match(refused.json.message, /MANAGE/)
  assert.equal((await runOf(other.path)).counts.PENDING, 6, 'nothing is stopped')
  const body = { jobName: other.jobName, targets: { deviceIds: ids } }
  const own = await api.call('POST', '/job/api/runs', { key: trigger.apiKey, body })
  const back = await act(`/job/api/runs/${own.json.runId}`, 'rollback', {}, trigger.apiKey)
  assert.equal(back.status, 201, back.text)
  await act(other.path, 'cancel')
  // Of a run that has finished there is nothing to stop.
  const later = await act(other.path, 'rollback', {}, trigger.apiKey)
  assert.equal(later.status, 201, later.text)
  for (const { json } of [back, later]) await act(`/job/api/runs/${json.runId}`, 'cancel')
})

test('a retry keeps the rollout of the run, as it was changed last, unless another is given', async () => {
  const jobName = await newJob({})
  const rollout = { waves: [{ size: 1 }, { size: '100%' }], next: { succeededPercent: 1 } }
  const body = { jobName, targets: { deviceIds: ids.slice(0, 3) }, rollout }
  const made = await api.call('POST', '/job/api/runs', { body })
  const path = `/job/api/runs/${made.json.runId}`
  await waitFor(path, 1)
  await api.call('PATCH', path, { body: { rollout: { ratePerMinute: 60 } } })
  await act(path, 'cancel')
  const retried = await act(path, 'retry', {})
  assert.equal(retried.status, 201, retried.text)
  const own = { ...rollout, ratePerMinute: 60 }
  assert.deepEqual(retried.json.rollout.definition, own)
  assert.deepEqual(
    retried.json.rollout.waves.map(({ size }: { size: number }) => size),
    [1, 2],
  )
  const otherwise = await act(path, 'retry', { rollout: {} })
  assert.deepEqual(otherwise.json.rollout.definition, {})
  for (const { json } of [retried, otherwise]) await act(`/job/api/runs/${json.runId}`, 'cancel')
})
