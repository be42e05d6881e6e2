// Conditions of gates: attributes that devices report.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer()
const [g1, g2] = [await newDevice(api, 'g1'), await newDevice(api, 'g2')]
await api.call('PUT', '/job/api/devices/g1', { body: { attributes: { site: 'berlin', fw: '1.0' } } })
await api.call('PUT', '/job/api/jobs/gated', { body: {} })

const report = (token: string, deviceId: string, attributes: object) =>
  fetch(`${api.http}/things/${deviceId}/attributes`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(attributes),
  })
const rolloutOf = (where: string, more: object = {}) => ({
  waves: [{ size: 1 }, { size: '100%' }],
  order: 'GIVEN',
  next: { succeededPercent: 100, where, ...more },
})
const runOf = (where: string, more?: object) => ({
  jobName: 'gated',
  targets: { deviceIds: ['g1', 'g2'] },
  rollout: rolloutOf(where, more),
})

test('a gate on an attribute that no device reports is J-500 at its field, wherever a rollout is given', async () => {
  const headers = { accept: 'application/problem+json' }
  const made = await api.call('POST', '/job/api/runs', {
    body: { ...runOf('site=berlin', { onMissing: 'WAIT' }) },
  })
  assert.equal(made.status, 201, made.text)
  const patched = `/job/api/runs/${made.json.runId}`
  for (const [where, words] of [
    ['site=berlin', /No device reports site/],
    ['reported.site=berlin or online', /No device reports site/],
    ['own.site=berlin', /own\.site is set by their owner/],
  ] as const) {
    const rollout = rolloutOf(where)
    const schedule = { jobName: 'gated', targets: { where: 'all' }, when: { cron: '0 3 * * *' }, rollout }
    for (const [method, path, body] of [
      ['POST', '/job/api/runs', runOf(where)],
      ['PATCH', patched, { rollout: { next: { ...rollout.next, onMissing: null } } }],
      ['PUT', '/job/api/jobs/gated-2', { rollout }],
      ['PUT', '/job/api/schedules/gated', schedule],
    ] as const) {
      const { status, json, text } = await api.call(method, path, { body, headers })
      assert.deepEqual(
        [status, json.code, json.field],
        [400, 'J-500', 'rollout.next.where'],
        `${path} ${text}`,
      )
      assert.match(json.detail, words)
    }
  }
  const waiting = await api.call('PUT', '/job/api/jobs/gated-2', {
    body: { rollout: rolloutOf('site=berlin', { onMissing: 'WAIT' }) },
  })
  assert.equal(waiting.status, 201, waiting.text)
  await api.call('POST', `${patched}/cancel`)
})

test('the plan names attributes that no device reports, also for the rollout of its job', async () => {
  const problemsOf = async (body: object): Promise<string[]> =>
    (await api.call('POST', '/job/api/runs?dryRun=true', { body })).json.problems
  await g1.call('GET', '')
  const problem = 'No device reports color, which rollout.next.where names.'
  assert.deepEqual(await problemsOf(runOf('color=red')), [problem])
  assert.deepEqual(await problemsOf(runOf('color=red', { onMissing: 'WAIT' })), [])
  assert.equal((await report(g2.token, 'g2', { color: 'blue' })).status, 200)
  await api.call('PUT', '/job/api/jobs/colored', { body: { rollout: rolloutOf('color=red') } })
  assert.equal((await report(g2.token, 'g2', { color: null })).status, 200)
  const { rollout: _, ...plain } = { ...runOf('all'), jobName: 'colored' }
  assert.deepEqual(await problemsOf(plain), [problem])
  const refused = await api.call('POST', '/job/api/runs', { body: plain })
  assert.deepEqual([refused.status, refused.json.code], [400, 'J-500'])
  // The trigger call is never refused for it.
  assert.equal((await api.trigger('colored', ['g1'])).status, 201)
})

test("a gate sees what a device reports although its owner's value says something else", async () => {
  assert.equal((await report(g1.token, 'g1', { fw: 'v2.4.0' })).status, 200)
  const made = await api.call('POST', '/job/api/runs', { body: runOf('fw>=v2.4.1') })
  assert.equal(made.status, 201, made.text)
  const path = `/job/api/runs/${made.json.runId}`
  const { items } = (await api.call('GET', `/job/api/executions?runId=${made.json.runId}`)).json
  const first = items.find((each: { deviceId: string }) => each.deviceId === 'g1').jobExecutionId
  assert.equal((await g1.update(first, 'SUCCEEDED')).status, 200)
  const where = encodeURIComponent('reported.fw>=2.4.1')
  assert.deepEqual((await api.call('GET', `/job/api/devices?where=${where}`)).json.items, [])
  const gate = async () => (await api.call('GET', path)).json.rollout.gate
  const { needed, succeeded, possible } = await gate()
  assert.deepEqual([needed, succeeded, possible], [1, 0, 1], 'it still reports the old version')
  assert.equal((await report(g1.token, 'g1', { fw: 'v2.10.0' })).status, 200)
  await waitUntil('the gate opens', async () => (await api.call('GET', path)).json.rollout.released === 2)
  const found = (await api.call('GET', `/job/api/devices?where=${where}`)).json.items
  assert.deepEqual(
    found.map(({ deviceId }: { deviceId: string }) => deviceId),
    ['g1'],
  )
  await api.call('POST', `${path}/cancel`)
})
