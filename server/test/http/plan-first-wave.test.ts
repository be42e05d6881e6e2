// A plan warns about a first wave that cannot pass its gate with the devices that are online.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer()
await api.call('PUT', '/job/api/jobs/update', { body: {} })
const ids = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6']
const devices = await Promise.all(ids.map((id) => newDevice(api, id)))
for (const id of ids) await api.call('PUT', `/job/api/devices/${id}`, { body: { tags: ['waves'] } })

const canary = { waves: [{ size: 3 }, { size: '100%' }], order: 'GIVEN' }
async function problemsOf(rollout?: object, more: object = { targets: { deviceIds: ids } }) {
  const body = { jobName: 'update', ...(rollout && { rollout }), ...more }
  const { status, json, text } = await api.call('POST', '/job/api/runs?dryRun=true', { body })
  assert.equal(status, 200, text)
  return json.problems as string[]
}
const warning = (needed: string, online: string) => [
  `The gate of the first wave needs ${needed} to succeed, but ${online} online now: the next wave waits until more come online.`,
]

test('a plan counts the devices of the first wave that are online, as the gate counts them', async () => {
  await devices[3]?.startNext()
  assert.deepEqual(await problemsOf(canary), warning('3 of 3 devices', 'none is'))
  await devices[0]?.startNext()
  assert.deepEqual(await problemsOf(canary), warning('3 of 3 devices', 'only 1 is'))
  assert.deepEqual(
    await problemsOf({ ...canary, next: { succeededPercent: 34 } }),
    warning('2 of 3 devices', 'only 1 is'),
  )
  assert.deepEqual(await problemsOf({ ...canary, next: { succeededPercent: 33 } }), [])
  const single = { ...canary, waves: [{ size: 1 }, { size: '100%' }] }
  assert.deepEqual(await problemsOf(single), [])
  const where = { targets: { where: 'tag=waves' } }
  assert.deepEqual(await problemsOf(canary, where), warning('3 of 3 devices', 'only 1 is'))
  const asleep = { ...canary, waves: [{ size: 1, where: 'deviceId=w6' }, { size: '100%' }] }
  assert.deepEqual(await problemsOf(asleep), warning('1 of 1 device', 'none is'))
})

test('only rollouts with another wave are warned about, also those of a job', async () => {
  assert.deepEqual(await problemsOf(), [])
  assert.deepEqual(await problemsOf({ ratePerMinute: 10 }), [])
  await api.call('PUT', '/job/api/jobs/update', { body: { rollout: canary } })
  assert.equal((await problemsOf()).length, 1)
})
