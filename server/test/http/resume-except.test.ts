// Resuming a paused run without some of its devices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'
import { openApp } from './open-app.ts'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { devices, newJob, launch, runOf, waitFor, act, report } = await openRolledRuns(api, 'x', 6)
const waves = { waves: [{ size: 2 }, { size: 2 }, { size: 2 }] }

test('devices that are excluded get nothing, and no gate counts them', async () => {
  const run = await launch(await newJob({ rollout: waves }))
  await waitFor(run.path, 2)
  await report(run, 0, 'FAILED')
  await waitFor(run.path, 2, 'PAUSED')
  // Device 1 has it and is offline; 2 and 5 are in later waves.
  const resumed = await act(run.path, 'resume', { except: ['x1', 'x2', 'x5'] })
  assert.equal(resumed.status, 200, resumed.text)
  await waitFor(run.path, 4)
  const { counts, rollout } = await runOf(run.path)
  assert.deepEqual([counts.CANCELED, counts.FAILED, rollout?.gate?.size], [3, 1, 1])
  for (const index of [1, 2, 4, 5]) {
    const next = await devices[index]?.startNext()
    assert.equal(next?.json.execution, undefined, `device ${index}`)
  }
  await report(run, 3, 'SUCCEEDED')
  await waitFor(run.path, 6, 'RELEASED')
  await report(run, 4, 'SUCCEEDED')
  const history = await api.call('GET', `/job/api/executions/${run.executionIds[2]}/history`)
  assert.equal(history.json.items.at(-1).actorName, 'admin', history.text)
})

test('what has started continues, and a device of the current wave that a person excludes does not close the gate', async () => {
  const run = await launch(await newJob({ rollout: { waves: [{ size: 3 }, { size: 3 }] } }))
  await waitFor(run.path, 3)
  await report(run, 0, 'IN_PROGRESS')
  await act(run.path, 'pause')
  assert.equal((await act(run.path, 'resume', { except: ['x0', 'x1'] })).status, 200)
  const { counts } = await runOf(run.path)
  assert.deepEqual([counts.IN_PROGRESS, counts.CANCELED, counts.PENDING], [1, 1, 4])
  await report(run, 0, 'SUCCEEDED')
  await report(run, 2, 'SUCCEEDED')
  await waitFor(run.path, 6, 'RELEASED')
  await act(run.path, 'cancel', { force: true })
})

test('a device that is not in the run changes nothing, nor does a run that is not paused', async () => {
  const jobName = await newJob({ rollout: waves })
  const run = await launch(jobName, ['x0', 'x1', 'x2', 'x3', 'x4'])
  await waitFor(run.path, 2)
  assertRefused(await act(run.path, 'resume', { except: ['x4'] }), 'J-303')
  await act(run.path, 'pause')
  for (const other of ['x5', 'nobody']) {
    const accept = { accept: 'application/problem+json' }
    const body = { except: ['x4', other] }
    const { status, json } = await api.call('POST', `${run.path}/resume`, { body, headers: accept })
    assert.deepEqual([status, json.code, json.field], [400, 'J-500', 'except[1]'])
  }
  for (const except of [[], 'x4', [7], Array.from({ length: 1001 }, (_, at) => `d${at}`)])
    assertRefused(await act(run.path, 'resume', { except }), 'J-500')
  const { counts, rollout } = await runOf(run.path)
  assert.deepEqual([counts.CANCELED, rollout?.state], [0, 'PAUSED'])
  await act(run.path, 'cancel', { force: true })
})

test('nothing is canceled if the run cannot be resumed: both are one write', async (t) => {
  const { app, adminKey, parts } = await openApp(t)
  const call = async (method: 'GET' | 'POST' | 'PUT', path: string, payload?: object) => {
    const reply = await app.inject({
      ...{ method, url: `/job/api/${path}`, headers: { 'x-api-key': adminKey } },
      ...(payload && { payload }),
    })
    return { status: reply.statusCode, json: reply.json() }
  }
  await call('PUT', 'jobs/update', {})
  for (const id of ['d1', 'd2']) await call('PUT', `devices/${id}`, {})
  const rollout = { waves: [{ size: 1 }, { size: 1 }], order: 'GIVEN' }
  const body = { jobName: 'update', targets: { deviceIds: ['d1', 'd2'] }, rollout }
  const made = await call('POST', 'runs', body)
  assert.equal(made.status, 201)
  const path = `runs/${made.json.runId}`
  assert.equal((await call('POST', `${path}/pause`)).status, 200)
  const { changeRollout } = parts.store
  parts.store.changeRollout = () => Promise.reject(new Error('the service was killed'))
  assert.equal((await call('POST', `${path}/resume`, { except: ['d2'] })).status, 500)
  const killed = (await call('GET', path)).json
  assert.deepEqual([killed.rollout.state, killed.counts.CANCELED], ['PAUSED', 0])
  parts.store.changeRollout = changeRollout
  assert.equal((await call('POST', `${path}/resume`, { except: ['d2'] })).status, 200)
  assert.equal((await call('GET', path)).json.counts.CANCELED, 1)
  const { items } = (await call('GET', 'audit')).json
  const entry = items.find(({ action }: { action: string }) => action === 'execution.canceled')
  assert.deepEqual([entry.before, entry.after], [{ execState: 'PENDING' }, { execState: 'CANCELED' }])
})
