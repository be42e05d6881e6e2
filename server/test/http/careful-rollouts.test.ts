// Safe defaults of rollouts, and rules that are changed while a run is in progress.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { ids, newJob, launch, runOf, waitFor, act, report } = await openRolledRuns(api, 'c', 5)
const canary = { waves: [{ size: 1 }, { size: '100%' }] }
const patch = (path: string, rollout: object) => api.call('PATCH', path, { body: { rollout } })

test('a canary that fails stops the rollout, with what the gate needs; advance begins the next wave', async () => {
  const run = await launch(await newJob({ rollout: canary }))
  await waitFor(run.path, 1)
  await report(run, 0, 'FAILED')
  const { pausedBecause, pausedBy, pausedCause } = await waitFor(run.path, 1, 'PAUSED')
  assert.equal(pausedBecause, '1 of 1 devices of wave 1 did not succeed; the gate needs 100 %')
  assert.equal(pausedBy, 'gate')
  const { rule, wave, needed, possible, executions } = pausedCause ?? {}
  assert.deepEqual([rule, wave, needed, possible], ['GATE_CLOSED', 1, 1, 0])
  assert.deepEqual(
    executions?.map(({ deviceId, execState }) => [deviceId, execState]),
    [['c0', 'FAILED']],
  )
  const advanced = await act(run.path, 'advance')
  assert.deepEqual([advanced.json.rollout.state, advanced.json.rollout.released], ['RELEASED', 5])
  await act(run.path, 'cancel')
})

test('who resumes a closed gate accepts what failed, and the others of the wave decide', async () => {
  const run = await launch(await newJob({ rollout: { waves: [{ size: 3 }, { size: '100%' }] } }))
  await waitFor(run.path, 3)
  await report(run, 0, 'SUCCEEDED')
  await report(run, 1, 'REJECTED')
  await waitFor(run.path, 3, 'PAUSED')
  const resumed = await act(run.path, 'resume')
  assert.deepEqual([resumed.json.rollout.state, resumed.json.rollout.released], ['ROLLING_OUT', 3])
  const held = await api.call('GET', `/job/api/executions/${run.executionIds[4]}/explain`)
  assert.match(held.text, /100 % of the other 2 devices of wave 1 have succeeded; 50 % so far/)
  await report(run, 2, 'SUCCEEDED')
  await waitFor(run.path, 5, 'RELEASED')
  await act(run.path, 'cancel')
})

test('a second pause names what has ended since the run was resumed, and nothing else', async () => {
  const stop = [{ on: ['FAILED'], count: 1 }]
  const run = await launch(await newJob({ rollout: { waves: [{ size: 4 }, { size: '100%' }], stop } }))
  await waitFor(run.path, 4)
  await report(run, 3, 'FAILED')
  await waitFor(run.path, 4, 'PAUSED')
  await act(run.path, 'resume')
  // An earlier position than what failed before, so the order of the ids is not that of the ends.
  await report(run, 0, 'FAILED')
  const { pausedCause } = await waitFor(run.path, 4, 'PAUSED')
  assert.deepEqual(
    pausedCause?.executions.map(({ deviceId }) => deviceId),
    ['c0'],
  )
  await act(run.path, 'cancel')
})

test('an ABORT rule that is met beside a PAUSE rule aborts the run', async () => {
  const stop = [
    { on: ['FAILED'], count: 1, action: 'PAUSE' },
    { on: ['FAILED'], count: 1, action: 'ABORT' },
  ]
  const run = await launch(await newJob({ rollout: { ...canary, stop } }))
  await waitFor(run.path, 1)
  await report(run, 0, 'FAILED')
  assert.equal((await waitFor(run.path, 1, 'ABORTED')).pausedCause?.stopRule, 2)
})

test('no more than budget.max are unfinished per value of an attribute, also after a change of the budget', async () => {
  const job = await newJob({ rollout: { order: 'GIVEN', budget: { by: 'site', max: 1 } } })
  for (const [index, site] of ['a', 'b', 'a', null, 'b'].entries()) {
    const attributes = site === null ? {} : { site }
    const put = await api.call('PUT', `/job/api/devices/${ids[index]}`, { body: { attributes } })
    assert.equal(put.status, 200)
  }
  const run = await launch(job)
  await waitFor(run.path, 2)
  const { text } = await api.call('GET', `/job/api/executions/${run.executionIds[3]}/explain`)
  assert.match(text, /2 of 5 are released so far, at most 1 unfinished per site/)
  // Its value is not the one that the next device waits for.
  await report(run, 1, 'SUCCEEDED')
  await report(run, 0, 'SUCCEEDED')
  await waitFor(run.path, 5, 'RELEASED')
  await act(run.path, 'cancel')
  const again = await launch(job)
  await waitFor(again.path, 2)
  const change = (budget: object) =>
    api.call('PATCH', again.path, {
      body: { rollout: { budget } },
      headers: { accept: 'application/problem+json' },
    })
  for (const wrong of [{ by: null }, { by: '1site' }, { by: 'online' }]) {
    const { status, json } = await change(wrong)
    assert.deepEqual([status, json.code, json.field], [400, 'J-500', 'rollout.budget.by'])
  }
  assert.equal((await change({ max: 0 })).status, 400)
  assert.equal((await change({ max: 2 })).status, 200)
  await waitFor(again.path, 5, 'RELEASED')
  await act(again.path, 'cancel')
})

test('no more than maxUnderWay are released and unfinished, also after some were canceled', async () => {
  const run = await launch(await newJob({ rollout: { maxUnderWay: 2 } }))
  await waitFor(run.path, 2)
  // Held back, and not one of those in progress.
  assert.equal((await api.call('POST', `/job/api/executions/${run.executionIds[4]}/cancel`)).status, 200)
  await report(run, 0, 'IN_PROGRESS')
  const { text } = await api.call('GET', `/job/api/executions/${run.executionIds[3]}/explain`)
  assert.match(text, /2 of 5 are released so far, at most 2 unfinished at once/)
  await report(run, 0, 'FAILED')
  await waitFor(run.path, 3)
  await report(run, 1, 'SUCCEEDED')
  await waitFor(run.path, 4)
  await report(run, 2, 'SUCCEEDED')
  await waitFor(run.path, 5, 'RELEASED')
  await act(run.path, 'cancel')
})

test('sizes and shares take fractions of a percent', async () => {
  const rollout = {
    order: 'GIVEN',
    waves: [{ size: '0.1%' }, { size: '33.5%' }, { size: '100%' }],
    next: { succeededPercent: 99.9 },
    stop: [{ on: ['FAILED'], percent: 0.5 }],
  }
  const { path } = await launch(await newJob({ rollout }))
  const { waves, definition } = await waitFor(path, 1)
  assert.deepEqual(
    waves.map(({ size }) => size),
    [1, 2, 2],
  )
  assert.deepEqual(definition, rollout)
  await act(path, 'cancel')
  for (const size of ['0%', '0.000%', '100.1%', '1.2345%', '.5%', '5.%', '01%']) {
    const put = await api.call('PUT', '/job/api/jobs/wrong', { body: { rollout: { waves: [{ size }] } } })
    assertRefused(put, 'J-500')
  }
})

test('a patch changes the fields that it has, null removes a field, and other fields are kept', async () => {
  const stop = [{ on: ['FAILED'], count: 2 }]
  const rollout = {
    order: 'GIVEN',
    ...{ waves: [{ size: 2, where: 'deviceId in (c0)' }, { size: '100%' }], ratePerMinute: 60, stop },
    ...{ growth: { factor: 2, afterSucceeded: 5 }, next: { succeededPercent: 90, soakSeconds: 60 } },
  }
  const { path } = await launch(await newJob({ rollout }))
  await waitFor(path, 1)
  const definition = async (changes: object) => {
    const reply = await patch(path, changes)
    assert.equal(reply.status, 200, reply.text)
    return reply.json.rollout.definition
  }
  assert.deepEqual(await definition({ ratePerMinute: 500 }), { ...rollout, ratePerMinute: 500 })
  const next = { succeededPercent: 90, action: 'PAUSE' }
  assert.deepEqual(await definition({ next: { soakSeconds: null, action: 'PAUSE' }, growth: null }), {
    ...{ order: 'GIVEN', waves: rollout.waves, ratePerMinute: 500, stop, next },
  })
  const { stop: _, ...others } = await definition({ maxUnderWay: 3 })
  assert.deepEqual(await definition({ stop: null }), others)
  assert.deepEqual(
    (await runOf(path)).rollout?.waves.map(({ size }) => size),
    [1, 4],
  )
  const refused: [object, RegExp][] = [
    [{ waves: null }, /rollout\.waves\[0\]/],
    [{ waves: [{ size: 1, where: 'deviceId in (c0)' }, { size: 1 }] }, /must cover all devices/],
    [
      { waves: [{ size: 3, where: 'deviceId in (c0)' }, { size: '100%' }] },
      /must stay 1: that wave has already started/,
    ],
    [{ waves: [{ size: 1 }, { size: '100%' }] }, /waves\[0\]\.where cannot change/],
    [{ order: 'RANDOM' }, /rollout\.order cannot change/],
    [{ order: null }, /rollout\.order cannot change/],
    [{ growth: { factor: 3 } }, /growth\.afterSucceeded is missing/],
    [{ ratePerMinute: 0 }, /rollout\.ratePerMinute must be between 1 and 1000000, or null/],
    [{ surprise: 1 }, /unknown field rollout\.surprise/],
    [{ next: { surprise: null } }, /unknown field rollout\.next\.surprise/],
  ]
  for (const [changes, words] of refused) {
    const reply = await api.call('PATCH', path, {
      body: { rollout: changes },
      headers: { accept: 'application/problem+json' },
    })
    assert.equal(reply.json.code, 'J-500', reply.text)
    assert.match(reply.json.detail, words)
  }
  assertRefused(await api.call('PATCH', path, { body: { rollout: null } }), 'J-500')
  assert.deepEqual((await runOf(path)).rollout?.definition, others)
  await act(path, 'cancel')
})

test('a paused run whose ABORT rule is met later is aborted', async () => {
  const stop = [{ on: ['FAILED'], count: 2, action: 'ABORT' }]
  const run = await launch(await newJob({ rollout: { waves: [{ size: 2 }, { size: '100%' }], stop } }))
  await waitFor(run.path, 2)
  await report(run, 0, 'FAILED')
  await waitFor(run.path, 2, 'PAUSED')
  await report(run, 1, 'FAILED')
  await waitFor(run.path, 2, 'ABORTED')
  await waitUntil(
    'the rest is canceled',
    async () => (await runOf(run.path)).counts.CANCELED === ids.length - 2,
  )
})
